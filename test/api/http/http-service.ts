import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../../application/caller.ts'
import type { CreateLiveRequest } from '../../../application/lives/commands/requested-live.ts'
import type { NewUser } from '../../../application/users/commands/register-user.ts'
import type { PageQuery } from '../../../application/ports/documents.ts'
import type { AccessCalls } from '../../../interfaces/http/access.ts'
import { createDescriptions } from '../../../interfaces/description/descriptions.ts'
import { createHttpApp } from '../../../interfaces/http/app.ts'
import type { HttpAppOptions, HttpSettings } from '../../../interfaces/http/app.ts'
import { createHttpServer } from '../../../interfaces/http/connections/server.ts'
import type { HttpServerOptions } from '../../../interfaces/http/connections/server.ts'
import type { Calls as RouteCalls } from '../../../interfaces/http/route-table.ts'
import type { DescriptionCalls } from '../../../interfaces/http/routes/description.ts'
import type { OperationCalls } from '../../../interfaces/http/routes/operations.ts'
import { NO_WAITING_LIMITS } from '../../../interfaces/http/connections/waiting-connections.ts'
import { listen } from '../../support/tools/listen.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import {
  AT, catalogue, details, entry, integrity, job, language, liveView, model, pair, profileView, tokenView, userView,
} from './example-views.ts'

const caller = (members: Partial<Caller>): Caller => ({
  userId: 7, permissions: [], maxSessions: 10, maxTranslations: 5, credential: 'jwt', ...members,
})

/** The valid bearer tokens. */
const CALLERS: Readonly<Record<string, Caller>> = {
  user: caller({}),
  admin: caller({ userId: 1, permissions: ['admin'] }),
}

/** The valid API keys, also accepted as bearer tokens. */
const KEYS: Readonly<Record<string, Caller>> = {
  lt_key: caller({ userId: 1, permissions: ['admin'], credential: 'api-key' }),
}

export const HTTP_SETTINGS: HttpSettings = {
  host: '127.0.0.1',
  publicUrl: null,
  basePath: null,
  allowedHosts: null,
  corsOrigins: ['*'],
  frameAncestors: ['*'],
  trustedProxies: null,
  compatStrict: false,
}

export interface Calls {
  readonly created: CreateLiveRequest[]
  readonly registered: Array<{ readonly user: NewUser; readonly actor: string }>
  readonly pages: PageQuery[]
}

export interface HttpService {
  readonly url: string
  readonly calls: Calls
  readonly log: ReturnType<typeof createRecordingLogger>
  readonly send: (
    method: string,
    path: string,
    init?: { readonly as?: string; readonly body?: unknown; readonly headers?: Record<string, string> },
  ) => Promise<Response>
}

const isSentAsItIs = (body: unknown): body is string | URLSearchParams | Buffer<ArrayBuffer> =>
  typeof body === 'string' || body instanceof URLSearchParams || body instanceof Buffer

/** The services that startHttp replaces by stubs. */
export type StubbedServices =
  Omit<RouteCalls, 'catalogue' | keyof OperationCalls | keyof DescriptionCalls> & AccessCalls

/** Starts only the HTTP layer on a free port with stubbed services, until the test ends. */
export const startHttp = async (
  t: ExecutionContext,
  overrides: Partial<StubbedServices> = {},
  options: Partial<HttpAppOptions & HttpServerOptions> = {},
): Promise<HttpService> => {
  const calls: Calls = { created: [], registered: [], pages: [] }
  const page = (query: PageQuery) => {
    calls.pages.push(query)
    return TE.right({ items: [liveView(2), liveView(1)], total: 2 })
  }
  const services: StubbedServices = {
    logIn: async (username, password) =>
      username === 'ann' && password === 'right password' ? E.right('a.jwt.token') : E.left({ _tag: 'WrongLogin' }),
    authenticate: (bearer) => TE.right(O.fromNullable(CALLERS[bearer])),
    authenticateKey: (secret) => TE.right(O.fromNullable(KEYS[secret])),
    isSetUp: () => TE.right(true),
    setUp: (token, username) => async () =>
      token === 'good' ? E.right(userView(1, username)) : E.left({ _tag: 'SetupRefused', reason: 'invalid' }),
    registerUser: (user, actor) => {
      calls.registered.push({ user, actor })
      return TE.right(userView(9, user.username))
    },
    logOut: () => TE.right(undefined),
    whoAmI: ({ userId }) => TE.right(userView(userId, 'ann')),
    changeUser: (_caller, id) => TE.right(userView(id, 'ann')),
    deleteUser: () => TE.right(undefined),
    changeOwnPassword: () => TE.right(undefined),
    listUsers: () => TE.right({ items: [userView(1, 'root')], total: 1 }),
    createLive: (_caller, request) => {
      calls.created.push(request)
      return TE.right(liveView(7))
    },
    getLive: (_user, id) => TE.right(id === 7 ? O.some(liveView(7)) : O.none),
    listLives: (_user, _statuses, query) => page(query),
    finishLive: (_caller, id) =>
      id === 7 ? TE.right(liveView(7, { status: 'finished', vram: 0 })) : TE.left({ _tag: 'LiveNotFound' }),
    finishLivesByAudioUrl: (_caller, _url, query) => page(query),
    listAllLives: () => TE.right({ items: [{ ...liveView(2), username: 'ann', lag: 0.25 }], total: 1 }),
    finishAnyLive: (_caller, id) =>
      TE.right({ ...liveView(id, { status: 'finished', vram: 0 }), username: 'ann', lag: null }),
    detailedCatalogue: {
      models: () => [{ model: model(1, 'tiny'), details }],
      translations: () => [{ pair, details }],
    },
    removeModel: () => TE.right(undefined),
    removeTranslation: () => TE.right(undefined),
    rescanModels: () => TE.right([model(1, 'tiny')]),
    switchModel: (_caller, id, active) => TE.right({ ...model(id, 'tiny'), active }),
    switchLanguage: (_caller, id, active) => TE.right({ ...language(id, 'en', 'English'), active }),
    switchTranslation: (_caller, id, active) => TE.right({ ...pair, id, active }),
    listProfiles: () => TE.right({ items: [profileView(7, 'Default')], total: 1 }),
    getProfile: (_userId, id) => TE.right(id === 7 ? O.some(profileView(7, 'Default')) : O.none),
    createProfile: (_caller, { name }) => TE.right(profileView(8, name)),
    changeProfile: (_caller, id) =>
      id === 7 ? TE.right(profileView(7, 'Default')) : TE.left({ _tag: 'ProfileNotFound' }),
    removeProfile: (_caller, id) => (id === 7 ? TE.right(undefined) : TE.left({ _tag: 'ProfileNotFound' })),
    listTokens: () => TE.right({ items: [tokenView(7)], total: 1 }),
    issueToken: () => TE.right({ token: tokenView(7), secret: 'lt_abcdefghijkl_secret' }),
    changeToken: (_caller, id) => (id === 7 ? TE.right(tokenView(7)) : TE.left({ _tag: 'ApiTokenNotFound' })),
    revokeToken: (_caller, id) => (id === 7 ? TE.right(undefined) : TE.left({ _tag: 'ApiTokenNotFound' })),
    jobs: {
      start: () => TE.right(job),
      list: () => TE.right([job]),
      get: (id) => (id === 7 ? TE.right(job) : TE.left({ _tag: 'JobNotFound' })),
      cancel: (id) => (id === 7 ? TE.right(undefined) : TE.left({ _tag: 'JobNotFound' })),
    },
    recentLoad: () => [{ at: AT, lagMax: 1.5, lagP95: 1, vramReserved: 1400, sessions: 1, listeners: 3 }],
    listAllTokens: () => TE.right({ items: [{ ...tokenView(7), username: 'ann' }], total: 1 }),
    revokeAnyToken: () => TE.right(undefined),
    deleteLive: (_caller, id) => (id === 7 ? TE.right(undefined) : TE.left({ _tag: 'LiveNotFound' })),
    getActivity: (_caller, id) =>
      id === 7
        ? TE.right({
            lag: 0.25, listeners: 3, senderConnected: true, audioSeconds: 12.5, segments: 4, textUntil: null,
            ignored: [],
          })
        : TE.left({ _tag: 'LiveNotFound' }),
    getCapacity: () => ({
      vramTotal: 4000, vramReserved: 1400, vramFree: 2600, openSessions: 1, maxSessions: 10, maxTranslations: 5,
    }),
    getHistory: (_caller, id) => (id === 7 ? TE.right({ items: [], total: 0 }) : TE.left({ _tag: 'LiveNotFound' })),
    getHistoryEntry: (_caller, id) =>
      id === 7 ? TE.right({ entry, state: liveView(7) }) : TE.left({ _tag: 'LiveNotFound' }),
    getIntegrity: (_caller, id) => (id === 7 ? TE.right(integrity) : TE.left({ _tag: 'LiveNotFound' })),
    getAnyLive: (_caller, id) => TE.right({ ...liveView(id), username: 'ann', lag: 0.25 }),
    getAnyHistory: () => TE.right({ items: [entry], total: 1 }),
    getAnyHistoryEntry: (_caller, id) => TE.right({ entry, state: { ...liveView(id), username: 'ann', lag: null } }),
    getAnyIntegrity: () => TE.right(integrity),
    getTranscript: (_caller, id) => (id === 7 ? TE.right([]) : TE.left({ _tag: 'LiveNotFound' })),
    ...overrides,
  }
  const log = createRecordingLogger()
  const app = createHttpApp({
    ...createDescriptions(),
    ...services,
    catalogue,
    readiness: () => ({ ready: true, checks: { eventStore: 'ok' } }),
    metrics: async () => '# HELP stenolog_x x\n',
    mayObserve: () => true,
    settings: HTTP_SETTINGS,
    version: '1.2.3',
    logger: log,
    ...options,
  })
  const handle = app.callback()
  const server = createHttpServer((request, response) => void handle(request, response), {
    logger: log,
    trustedProxies: [],
    waiting: NO_WAITING_LIMITS,
    ...options,
  })
  const url = await listen(t, server)
  return {
    url,
    calls,
    log,
    send: (method, path, { as, body, headers = {} } = {}) =>
      fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
          ...(body === undefined || body instanceof URLSearchParams ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: isSentAsItIs(body) ? body : JSON.stringify(body) }),
      }),
  }
}
