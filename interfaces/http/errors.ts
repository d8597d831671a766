import type { Refusal } from '../../application/refusals.ts'
import type { SetupRefused } from '../../application/users/commands/set-up.ts'
import { BUFFERS_NOT_ORDERED } from './codecs/settings-codec.ts'
import type { Issue } from './codecs/issues.ts'

/** Refusals of the HTTP layer itself: wrong credentials or an invalid request. */
export type TransportRefusal =
  | { readonly _tag: 'NotAuthenticated' }
  | { readonly _tag: 'InvalidCredentials' }
  | { readonly _tag: 'PermissionMissing' }
  | { readonly _tag: 'ApiKeyNotAccepted' }
  | { readonly _tag: 'RouteNotFound' }
  | { readonly _tag: 'UpgradeRequired' }
  | { readonly _tag: 'MethodNotAllowed'; readonly allow: ReadonlyArray<string> }
  | { readonly _tag: 'BodyTooLarge' }
  | { readonly _tag: 'MediaTypeNotSupported' }
  | { readonly _tag: 'CharsetNotSupported' }
  | { readonly _tag: 'ContentEncodingNotSupported' }
  | { readonly _tag: 'InvalidRequest'; readonly issues: ReadonlyArray<Issue> }
  | { readonly _tag: 'ExpectationFailed' }
  | { readonly _tag: 'InternalError' }

export type HttpRefusal = Refusal | SetupRefused | TransportRefusal
export type RefusalTag = HttpRefusal['_tag']
type RefusalOf<T extends RefusalTag> = Extract<HttpRefusal, { readonly _tag: T }>

interface Answer<R> {
  readonly status: number
  readonly detail: (refusal: R) => string | ReadonlyArray<Issue>
  readonly headers?: Readonly<Record<string, (refusal: R) => string>>
}

const CHALLENGE = { 'WWW-Authenticate': () => 'Bearer' }
const STORE_UNAVAILABLE =
  { status: 503, detail: () => 'Service temporarily unavailable', headers: { 'Retry-After': () => '5' } }

/** Only an operator can repair damaged data, so clients should wait longer. */
const DATA_DAMAGED = {
  status: 503,
  detail: () => 'Stored data cannot be read; see /health/ready, or run stenolog check',
  headers: { 'Retry-After': () => '60' },
}

const MODELS_ELSEWHERE = 'This process runs no models: install and remove them on the machine of a worker'

const hundredths = (round: (value: number) => number, value: number): string => (round(value * 100) / 100).toFixed(2)

/** Status, `detail` and headers of every refusal. A refusal without an entry does not compile. */
const ANSWERS: { readonly [T in RefusalTag]: Answer<RefusalOf<T>> } = {
  ModelNotFound: { status: 404, detail: () => 'Model not found' },
  LanguageNotFound: { status: 404, detail: () => 'Language not found' },
  LanguageNotSupported: {
    status: 404,
    detail: ({ model, language }) => `Language not supported by model: ${model}, ${language}`,
  },
  TaskNotSupported: { status: 404, detail: ({ model }) => `Task not supported by model: ${model}, translate` },
  TranslationNotFound: { status: 404, detail: ({ from, to }) => `Translation not found: ${from}->${to}` },
  ProfileNotFound: { status: 404, detail: () => 'Profile not found' },
  ApiTokenNotFound: { status: 404, detail: () => 'Token not found' },
  LastAdministrator: { status: 400, detail: () => 'The last administrator cannot be deleted' },
  LastAdministratorChanged: { status: 400, detail: () => 'The last administrator cannot be demoted or deactivated' },
  LastProfile: { status: 400, detail: () => 'The last profile cannot be deleted' },
  LiveNotFound: { status: 404, detail: () => 'Live not found' },
  PairNotFound: { status: 404, detail: () => 'Translation not found' },
  UserNotFound: { status: 404, detail: () => 'User not found' },
  JobNotFound: { status: 404, detail: () => 'Job not found' },
  JobRunning: { status: 409, detail: ({ kind }) => `Another job of this kind is running: ${kind}` },
  JobSubjectInvalid: {
    status: 422,
    detail: ({ problem }) =>
      [{ type: 'value_error', loc: ['body', 'subject'], msg: `Value error, subject ${problem}` }],
  },
  ModelInUse: {
    status: 409,
    detail: ({ lives }) => `Model is in use by ${lives} open ${lives === 1 ? 'session' : 'sessions'}`,
  },
  ModelIsBundled: { status: 400, detail: () => 'Model ships with the service and can be switched off, not removed' },
  ModelsElsewhere: { status: 409, detail: () => MODELS_ELSEWHERE },
  EntryNotFound: { status: 404, detail: () => 'History entry not found' },
  TranscriptNotFound: { status: 404, detail: () => 'Transcript not found' },
  RouteNotFound: { status: 404, detail: () => 'Not Found' },
  QuotaReached: { status: 403, detail: ({ maximum }) => `Maximum number of sessions reached (${maximum})` },
  TooManyTranslations: { status: 403, detail: ({ maximum }) => `Maximum number of translations exceeded (${maximum})` },
  TooManyProfiles: { status: 403, detail: ({ maximum }) => `Maximum number of profiles reached (${maximum})` },
  TooManyApiTokens: { status: 403, detail: ({ maximum }) => `Maximum number of API tokens reached (${maximum})` },
  PermissionMissing: { status: 403, detail: () => 'Not enough permissions' },
  ApiKeyNotAccepted: { status: 403, detail: () => 'API keys are not accepted here' },
  SetupRefused: { status: 403, detail: () => 'Setup link is invalid, expired or already used' },
  NoWorker: {
    status: 503,
    detail: () => 'No worker is available to run sessions',
    headers: { 'Retry-After': () => '5' },
  },
  InsufficientVram: {
    status: 503,
    detail: ({ needed, free }) => `Not enough VRAM: ${needed} MB required, ${free} MB available`,
    headers: { 'Retry-After': () => '30' },
  },
  InsufficientCompute: {
    status: 503,
    // Rounding up and down keeps the two numbers different.
    detail: ({ neededLanes, freeLanes }) =>
      `Not enough compute: ${hundredths(Math.ceil, neededLanes)} engine lanes required, `
      + `${hundredths(Math.floor, freeLanes)} available; try again when a session has ended, or choose a smaller model`,
    headers: { 'Retry-After': () => '30' },
  },
  ShuttingDown: STORE_UNAVAILABLE,
  StoreUnavailable: STORE_UNAVAILABLE,
  LogCorrupted: DATA_DAMAGED,
  EventTypeUnknown: DATA_DAMAGED,
  DocumentsUnavailable: {
    status: 503,
    detail: ({ share }) =>
      share === undefined
        ? STORE_UNAVAILABLE.detail()
        : `This list is being built from the log: ${Math.floor(100 * share)} % are done`,
    headers: { 'Retry-After': ({ share }) => (share === undefined ? '5' : '30') },
  },
  KeyringUnavailable: STORE_UNAVAILABLE,
  KeyErased: STORE_UNAVAILABLE,
  KeyMissing: DATA_DAMAGED,
  Contended: STORE_UNAVAILABLE,
  ListenerTokenTaken: {
    status: 422,
    detail: () =>
      [{ type: 'value_error', loc: ['body', 'listener_token'], msg: 'Value error, token is used by another user' }],
  },
  BuffersNotOrdered: {
    status: 422,
    detail: ({ member }) =>
      [{ type: 'value_error', loc: ['body', member], msg: `Value error, ${BUFFERS_NOT_ORDERED}` }],
  },
  ExpiryNotInFuture: {
    status: 422,
    detail: () =>
      [{ type: 'value_error', loc: ['body', 'expires_at'], msg: 'Value error, expires_at should be in the future' }],
  },
  IdempotencyKeyReused: {
    status: 422,
    detail: () => [{
      type: 'value_error',
      loc: ['header', 'idempotency-key'],
      msg: 'Value error, key was used with another request',
    }],
  },
  RequestStillRunning: { status: 409, detail: () => 'A request with this Idempotency-Key is still running' },
  AudioUrlForbidden: {
    status: 422,
    detail: () => [{
      type: 'value_error',
      loc: ['body', 'audio_url'],
      msg: 'Value error, URL names an address that is not public, or an address in the network of this server; '
        + 'STENOLOG_AUDIO_URL_ALLOW_CIDRS allows further ranges',
    }],
  },
  SourcesNotIsolated: {
    status: 422,
    detail: () => [{
      type: 'value_error',
      loc: ['body', 'audio_url'],
      msg: 'Value error, this server cannot use audio URLs: STENOLOG_SOURCE_ISOLATION=required is set, but this '
        + 'machine cannot isolate the decoders; run stenolog doctor',
    }],
  },
  InvalidRequest: { status: 422, detail: ({ issues }) => issues },
  UsernameTaken: { status: 409, detail: () => 'Username already taken' },
  NotAuthenticated: { status: 401, detail: () => 'Not authenticated', headers: CHALLENGE },
  InvalidCredentials: { status: 401, detail: () => 'Could not validate credentials', headers: CHALLENGE },
  WrongLogin: { status: 401, detail: () => 'Incorrect username or password', headers: CHALLENGE },
  WrongPassword: { status: 400, detail: () => 'Incorrect password' },
  TooManyRequests: {
    status: 429,
    detail: () => 'Too many requests',
    headers: { 'Retry-After': ({ seconds }) => String(seconds) },
  },
  DailyBudgetUsed: {
    status: 429,
    detail: () => 'Too many requests: daily budget',
    headers: { 'Retry-After': ({ seconds }) => String(seconds) },
  },
  TooBusy: { status: 429, detail: () => 'Too many requests', headers: { 'Retry-After': () => '1' } },
  UpgradeRequired: {
    status: 426,
    detail: () => 'This is a WebSocket: connect to ws:// or wss:// with ?token= and the sender_token or listener_token '
      + 'of a session',
    headers: { Upgrade: () => 'websocket', Connection: () => 'Upgrade' },
  },
  MethodNotAllowed: {
    status: 405,
    detail: () => 'Method Not Allowed',
    headers: { Allow: ({ allow }) => allow.join(', ') },
  },
  BodyTooLarge: { status: 413, detail: () => 'Request body too large' },
  MediaTypeNotSupported: { status: 415, detail: () => 'Content-Type should be application/json' },
  CharsetNotSupported: { status: 415, detail: () => 'The charset in Content-Type should be utf-8' },
  ContentEncodingNotSupported: {
    status: 415,
    detail: () => 'Content-Encoding should be gzip, deflate or br',
    headers: { 'Accept-Encoding': () => 'gzip, deflate, br' },
  },
  ExpectationFailed: { status: 417, detail: () => 'The header Expect may only be 100-continue' },
  InternalError: { status: 500, detail: () => 'Internal Server Error' },
}

export const REFUSAL_TAGS = Object.keys(ANSWERS) as ReadonlyArray<RefusalTag>

export interface ErrorResponse {
  readonly status: number
  readonly body: { readonly detail: string | ReadonlyArray<Issue> }
  readonly headers: Readonly<Record<string, string>>
}

export const errorResponse = <T extends RefusalTag>(refusal: RefusalOf<T> & { readonly _tag: T }): ErrorResponse => {
  const answer: Answer<RefusalOf<T>> = ANSWERS[refusal._tag]
  const headers = Object.entries(answer.headers ?? {}).map(([name, valueOf]) => [name, valueOf(refusal)] as const)
  return { status: answer.status, body: { detail: answer.detail(refusal) }, headers: Object.fromEntries(headers) }
}

/** Example members of refusals, for OpenAPI. */
const SAMPLE = {
  maximum: 10, needed: 1400, free: 900, neededLanes: 0.45, freeLanes: 0.2, model: 'demo-en', language: 'fr',
  from: 'en', to: 'xx', member: 'min_buffer', seconds: 8, kind: 'pull',
  problem: 'should be a model name (base) or a repository (owner/name)', lives: 2, allow: ['GET', 'HEAD'],
  issues: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }],
}

export const exampleResponse = (tag: RefusalTag): ErrorResponse =>
  errorResponse({ ...SAMPLE, _tag: tag } as unknown as HttpRefusal)

/** Refusals of every route that reads or writes a store: the tags of `Unavailable` in application/refusals.ts. */
export const UNAVAILABLE = [
  'StoreUnavailable', 'LogCorrupted', 'EventTypeUnknown', 'DocumentsUnavailable',
  'KeyringUnavailable', 'KeyErased', 'KeyMissing', 'Contended',
] as const satisfies ReadonlyArray<RefusalTag>
