import Router from '@koa/router'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import Koa, { type Context, type Middleware } from 'koa'
import type { DailyBudget } from '../../application/budget.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { AccessCalls } from './access.ts'
import { loggableUrl, loggableError } from './access-log.ts'
import { clientAddress } from './clients/client-address.ts'
import { errorResponse, type HttpRefusal } from './errors.ts'
import { type Arrival, createArrivalReader } from './clients/forwarded.ts'
import { baseHeaders, corsHeaders, protectiveHeaders } from './headers.ts'
import { linkHeader, type ListAddress } from './link-header.ts'
import { type LinkSettings, pathBase, serverAddresses, webSocketBase } from './clients/links.ts'
import { framePolicy } from './pages/page-policy.ts'
import { allowedMethods, isHidden } from './matched-paths.ts'
import { correlationIdOf, inNoRequest, type InRequest, requestIdOf } from './request-id.ts'
import { NO_LIMITS, type RequestLimits } from './clients/request-limits.ts'
import type { Route } from './route.ts'
import { createListSlots, type EncodedAnswer, runRoute } from './run-route.ts'
import type { RequestFacts } from './clients/request-facts.ts'
import { type Calls, prefixes, ROUTES } from './route-table.ts'
import { type OperationCalls, operationRoutes } from './routes/operations.ts'
import { asFile, sendFile } from './pages/static-file.ts'
import { findTarget } from './socket-path.ts'

export interface HttpSettings extends LinkSettings {
  /** The origins that may call. `['*']` allows every origin. */
  readonly corsOrigins: ReadonlyArray<string>
  /** The origins that may show the caption page in a frame. `['*']` allows every origin. */
  readonly frameAncestors: ReadonlyArray<string>
  /** CIDR ranges of the proxies whose forwarding headers count. Null when there are no proxies. */
  readonly trustedProxies: ReadonlyArray<string> | null
  /** If true, responses about sessions, profiles and transcripts contain only members of the interface 0.6.2. */
  readonly compatStrict: boolean
}

/** Options that do not depend on the routes. */
interface AppOptions extends AccessCalls {
  readonly settings: HttpSettings
  /** Version of the product, for the header X-Service-Version. */
  readonly version: string
  readonly logger: Logger
  /** Rate limits. Unlimited by default. */
  readonly limits?: RequestLimits
  /** What users may write within a day. Unlimited by default. */
  readonly budget?: DailyBudget
  readonly inRequest?: InRequest
  /** True on the socket in the data directory, where every caller is the operator. */
  readonly isControl?: boolean
}

/** Options of the application with all routes. */
export type HttpAppOptions = AppOptions & Calls

/** Gives each request an id and logs it after the response. */
const logRequests =
  (logger: Logger, inRequest: InRequest): Middleware =>
  async (ctx, next) => {
    const requestId = requestIdOf(ctx.headers['x-request-id'])
    const correlationId = correlationIdOf(requestId)
    const startedAt = performance.now()
    ctx.state['requestId'] = requestId
    ctx.set('X-Request-ID', requestId)
    await inRequest(correlationId, next)
    const ms = Math.round(performance.now() - startedAt)
    const ids = { requestId, ...(correlationId !== requestId && { correlationId }) }
    const url = loggableUrl(ctx.path, ctx.querystring)
    logger.info({ ...ids, method: ctx.method, url, status: ctx.status, ms }, 'request')
  }

const refuse = (ctx: Context, refusal: HttpRefusal, logger: Logger): void => {
  const { status, body, headers } = errorResponse(refusal)
  if (status >= 500) {
    const reason = 'reason' in refusal ? refusal.reason : undefined
    logger.warn({ requestId: ctx.state['requestId'], refusal: refusal._tag, reason }, 'request failed')
  }
  ctx.status = status
  ctx.set(headers)
  ctx.body = body
}

/** Turns an unexpected error into a 500 without details. The details go to the log. */
const catchErrors =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      logger.error({ requestId: ctx.state['requestId'], err: error }, 'unexpected error in a request')
      refuse(ctx, { _tag: 'InternalError' }, logger)
    }
  }

/** Checks the header Expect. Node's own refusal would have no body. HTTP/1.0 does not have this header. */
const checkExpect =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    const { httpVersion, headers } = ctx.req
    if (httpVersion !== '1.1') return next()
    const expected = headers.expect?.toLowerCase() ?? '100-continue'
    return expected === '100-continue' ? next() : refuse(ctx, { _tag: 'ExpectationFailed' }, logger)
  }

const factsOf = ({ address, host, encrypted, prefix }: Arrival, settings: HttpSettings): RequestFacts => {
  const baseUrl = webSocketBase(settings, host, encrypted, prefix)
  const pagesUrl = baseUrl === '' ? pathBase(settings, prefix) : baseUrl.replace(/^ws/, 'http')
  const servers = serverAddresses(settings, baseUrl, prefixes(settings.basePath))
  return { baseUrl, pagesUrl, address: clientAddress(address), servers, strict: settings.compatStrict }
}

/** Writes the response of a route, and the `Link` header if it is a list. `listPrefix` is the path prefix of links. */
const respond = async <D>(
  ctx: Context,
  { response }: Route<D>,
  answer: EncodedAnswer,
  list: ListAddress,
  settings: HttpSettings,
): Promise<void> => {
  ctx.status = answer.status
  ctx.set(response.headers ?? {})
  if (response.isFramable === true) {
    ctx.remove('X-Frame-Options')
    ctx.set('Content-Security-Policy', framePolicy(settings.frameAncestors))
  }
  const file = response.isFile === true ? asFile(answer.body) : null
  if (answer.json !== null) ctx.type = 'json'
  if (file === null) ctx.body = answer.json ?? answer.body
  else await sendFile(ctx, file)
  const link = linkHeader(list, answer.listQuery, answer.body)
  if (link !== null) ctx.set('Link', link)
  const mediaType = file?.mediaType ?? answer.mediaType ?? response.mediaType
  if (mediaType !== undefined) ctx.type = mediaType
}

const createRouter = <D>(options: AppOptions & D, routes: ReadonlyArray<Route<D>>): Router => {
  const { settings } = options
  const router = new Router({ sensitive: true })
  const arrivalOf = createArrivalReader(settings.trustedProxies ?? [])
  const listSlots = createListSlots()
  const register = (prefix: string, route: Route<D>): void => {
    const path = route.path === '/' && prefix !== '' ? prefix : `${prefix}${route.path}`
    router.register(path, [route.method], async (ctx, next) => {
      if (route.path.includes(':') && isHidden(ctx)) return next()
      const arrival = arrivalOf(ctx.req)
      const facts = factsOf(arrival, settings)
      const answer = await runRoute(ctx, route, options, facts, listSlots)
      if (E.isLeft(answer)) return refuse(ctx, answer.left, options.logger)
      const list: ListAddress =
        { webSocketBase: facts.baseUrl, prefix: `${arrival.prefix}${prefix}`, path: ctx.path.slice(prefix.length) }
      await respond(ctx, route, answer.right, list, settings)
    })
  }
  for (const prefix of prefixes(settings.basePath)) for (const route of routes) register(prefix, route)
  return router
}

/** Refuses a request that matches no route: a WebSocket path, a path with other methods, or an unknown path. */
const refuseUnmatched = ({ logger, settings, limits = NO_LIMITS }: AppOptions): Middleware => {
  const arrivalOf = createArrivalReader(settings.trustedProxies ?? [])
  return (ctx) => {
    const verdict = limits.take(`address ${clientAddress(arrivalOf(ctx.req).address)}`)
    if (E.isLeft(verdict)) return refuse(ctx, verdict.left, logger)
    const isSocket = findTarget(ctx.path, prefixes(settings.basePath)) !== null
    const allow = isSocket ? ['GET', 'HEAD'] : allowedMethods(ctx)
    if (isSocket && allow.includes(ctx.method)) return refuse(ctx, { _tag: 'UpgradeRequired' }, logger)
    refuse(ctx, allow.length === 0 ? { _tag: 'RouteNotFound' } : { _tag: 'MethodNotAllowed', allow }, logger)
  }
}

/** Creates a Koa application for these routes. Koa's own proxy support stays off: forwarded.ts reads proxy headers. */
const createApp = <D>(options: AppOptions & D, routes: ReadonlyArray<Route<D>>): Koa => {
  const { logger, settings, version, inRequest = inNoRequest } = options
  const app = new Koa()
  app.on('error', (error: unknown) => logger.info(loggableError(error), 'response could not be sent'))
  app.use(logRequests(logger, inRequest))
  app.use(baseHeaders(version))
  app.use(protectiveHeaders)
  app.use(corsHeaders(settings.corsOrigins))
  app.use(catchErrors(logger))
  app.use(checkExpect(logger))
  app.use(createRouter(options, routes).routes())
  app.use(refuseUnmatched(options))
  return app
}

/** Creates the application with all routes. */
export const createHttpApp = (options: HttpAppOptions): Koa => createApp(options, ROUTES)

const NO_USERS: AccessCalls = {
  authenticate: async () => E.right(O.none),
  authenticateKey: async () => E.right(O.none),
  whoAmI: async () => E.left({ _tag: 'UserNotFound' }),
}

/** Creates an application with only health checks and metrics, for a process without the role `api`. */
export const createOperationsApp = (options: Omit<AppOptions, keyof AccessCalls> & OperationCalls): Koa =>
  createApp({ ...options, ...NO_USERS }, operationRoutes)
