import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../../application/caller.ts'
import type { CreateLiveRequest } from '../../../application/lives/commands/requested-live.ts'
import type { NewUser } from '../../../application/users/commands/register-user.ts'
import type { PageQuery } from '../../../application/ports/documents.ts'
import type { AccessCalls } from '../../../interfaces/http/access.ts'
import { createDescriptions } from '../../../interfaces/description/descriptions.ts'
import { createHttpApp, type HttpAppOptions, type HttpSettings } from '../../../interfaces/http/app.ts'
import { createHttpServer, type HttpServerOptions } from '../../../interfaces/http/connections/server.ts'
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
  const page = async (query: PageQuery) => {
    calls.pages.push(query)
    return E.right({ items: [liveView(2), liveView(1)], total: 2 })
  }
  const services: StubbedServices = {
    logIn: async (username, password) =>
      username === 'ann' && password === 'right password' ? E.right('a.jwt.token') : E.left({ _tag: 'WrongLogin' }),
    authenticate: async (bearer) => E.right(O.fromNullable(CALLERS[bearer])),
    authenticateKey: async (secret) => E.right(O.fromNullable(KEYS[secret])),
    isSetUp: async () => E.right(true),
    setUp: async (token, username) =>
      token === 'good' ? E.right(userView(1, username)) : E.left({ _tag: 'SetupRefused', reason: 'invalid' }),
    registerUser: async (user, actor) => {
      calls.registered.push({ user, actor })
      return E.right(userView(9, user.username))
    },
    logOut: async () => E.right(undefined),
    whoAmI: async ({ userId }) => E.right(userView(userId, 'ann')),
    changeUser: async (_caller, id) => E.right(userView(id, 'ann')),
    deleteUser: async () => E.right(undefined),
    changeOwnPassword: async () => E.right(undefined),
    listUsers: async () => E.right({ items: [userView(1, 'root')], total: 1 }),
    createLive: async (_caller, request) => {
      calls.created.push(request)
      return E.right(liveView(7))
    },
    getLive: async (_user, id) => E.right(id === 7 ? O.some(liveView(7)) : O.none),
    listLives: (_user, _statuses, query) => page(query),
    finishLive: async (_caller, id) =>
      id === 7 ? E.right(liveView(7, { status: 'finished', vram: 0 })) : E.left({ _tag: 'LiveNotFound' }),
    finishLivesByAudioUrl: (_caller, _url, query) => page(query),
    listAllLives: async () => E.right({ items: [{ ...liveView(2), username: 'ann', lag: 0.25 }], total: 1 }),
    finishAnyLive: async (_caller, id) =>
      E.right({ ...liveView(id, { status: 'finished', vram: 0 }), username: 'ann', lag: null }),
    detailedCatalogue: {
      models: () => [{ model: model(1, 'tiny'), details }],
      translations: () => [{ pair, details }],
    },
    removeModel: async () => E.right(undefined),
    removeTranslation: async () => E.right(undefined),
    rescanModels: async () => E.right([model(1, 'tiny')]),
    switchModel: async (_caller, id, active) => E.right({ ...model(id, 'tiny'), active }),
    switchLanguage: async (_caller, id, active) => E.right({ ...language(id, 'en', 'English'), active }),
    switchTranslation: async (_caller, id, active) => E.right({ ...pair, id, active }),
    listProfiles: async () => E.right({ items: [profileView(7, 'Default')], total: 1 }),
    getProfile: async (_userId, id) => E.right(id === 7 ? O.some(profileView(7, 'Default')) : O.none),
    createProfile: async (_caller, { name }) => E.right(profileView(8, name)),
    changeProfile: async (_caller, id) =>
      id === 7 ? E.right(profileView(7, 'Default')) : E.left({ _tag: 'ProfileNotFound' }),
    removeProfile: async (_caller, id) => (id === 7 ? E.right(undefined) : E.left({ _tag: 'ProfileNotFound' })),
    listTokens: async () => E.right({ items: [tokenView(7)], total: 1 }),
    issueToken: async () => E.right({ token: tokenView(7), secret: 'lt_abcdefghijkl_secret' }),
    changeToken: async (_caller, id) => (id === 7 ? E.right(tokenView(7)) : E.left({ _tag: 'ApiTokenNotFound' })),
    revokeToken: async (_caller, id) => (id === 7 ? E.right(undefined) : E.left({ _tag: 'ApiTokenNotFound' })),
    jobs: {
      start: async () => E.right(job),
      list: async () => E.right([job]),
      get: async (id) => (id === 7 ? E.right(job) : E.left({ _tag: 'JobNotFound' })),
      cancel: async (id) => (id === 7 ? E.right(undefined) : E.left({ _tag: 'JobNotFound' })),
    },
    recentLoad: () => [{ at: AT, lagMax: 1.5, lagP95: 1, vramReserved: 1400, sessions: 1, listeners: 3 }],
    listAllTokens: async () => E.right({ items: [{ ...tokenView(7), username: 'ann' }], total: 1 }),
    revokeAnyToken: async () => E.right(undefined),
    deleteLive: async (_caller, id) => (id === 7 ? E.right(undefined) : E.left({ _tag: 'LiveNotFound' })),
    getActivity: async (_caller, id) =>
      id === 7
        ? E.right({
            lag: 0.25, listeners: 3, senderConnected: true, audioSeconds: 12.5, wrongSamples: null, segments: 4,
            textUntil: null, ignored: [],
          })
        : E.left({ _tag: 'LiveNotFound' }),
    getCapacity: () => ({
      vramTotal: 4000, vramReserved: 1400, vramFree: 2600, openSessions: 1, maxSessions: 10, maxTranslations: 5,
    }),
    getHistory: async (_caller, id) => (id === 7 ? E.right({ items: [], total: 0 }) : E.left({ _tag: 'LiveNotFound' })),
    getHistoryEntry: async (_caller, id) =>
      id === 7 ? E.right({ entry, state: liveView(7) }) : E.left({ _tag: 'LiveNotFound' }),
    getIntegrity: async (_caller, id) => (id === 7 ? E.right(integrity) : E.left({ _tag: 'LiveNotFound' })),
    getAnyLive: async (_caller, id) => E.right({ ...liveView(id), username: 'ann', lag: 0.25 }),
    getAnyHistory: async () => E.right({ items: [entry], total: 1 }),
    getAnyHistoryEntry: async (_caller, id) =>
      E.right({ entry, state: { ...liveView(id), username: 'ann', lag: null } }),
    getAnyIntegrity: async () => E.right(integrity),
    getTranscript: async (_caller, id) => (id === 7 ? E.right([]) : E.left({ _tag: 'LiveNotFound' })),
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
