import Router from '@koa/router'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import Koa from 'koa'
import type { Context, Middleware } from 'koa'
import type { Caller } from '../../application/caller.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { admit, admitOperator, ON_BEHALF_OF } from './access.ts'
import type { AccessCalls } from './access.ts'
import { loggable, loggableError } from './access-log.ts'
import { readBody } from './body.ts'
import { clientAddress } from './clients/client-address.ts'
import { errorResponse } from './errors.ts'
import type { HttpRefusal } from './errors.ts'
import { createArrivals } from './clients/forwarded.ts'
import type { Arrival } from './clients/forwarded.ts'
import { baseHeaders, crossOrigin, protectiveHeaders } from './headers.ts'
import { linkHeader } from './link-header.ts'
import { pathBase, serverAddresses, webSocketBase } from './clients/links.ts'
import type { LinkSettings } from './clients/links.ts'
import { framableBy } from './pages/page-policy.ts'
import { correlationIdOf, inNoRequest, requestIdOf } from './request-id.ts'
import type { InRequest } from './request-id.ts'
import { NO_LIMITS } from './clients/request-limits.ts'
import type { RequestLimits } from './clients/request-limits.ts'
import type { Answer, Route } from './route.ts'
import type { Origin } from './clients/origin.ts'
import { ROUTES, prefixes } from './route-table.ts'
import type { Calls } from './route-table.ts'
import { consoleRoutes } from './routes/console.ts'
import { embedFiles } from './routes/embed.ts'
import { operationRoutes } from './routes/operations.ts'
import type { OperationCalls } from './routes/operations.ts'
import { asFile, sendFile } from './pages/static-file.ts'
import { findTarget } from './socket-path.ts'

export interface HttpSettings extends LinkSettings {
  /** `['*']` or the origins that may call. */
  readonly corsOrigins: ReadonlyArray<string>
  /** `['*']` or the origins whose pages may show a page that can be embedded. */
  readonly frameAncestors: ReadonlyArray<string>
  /** CIDR ranges of the proxies whose forwarding headers count, null for none. */
  readonly trustedProxies: ReadonlyArray<string> | null
  /** Answers about lives, profiles and transcripts hold the members of the interface alone. */
  readonly compatStrict: boolean
}

/** What every application has, whatever its routes. */
interface AppOptions extends AccessCalls {
  readonly settings: HttpSettings
  /** Of the product, for the header X-Service-Version. */
  readonly version: string
  readonly logger: Logger
  /** How often a credential or an address may ask; without it as often as it likes. */
  readonly limits?: RequestLimits
  readonly inRequest?: InRequest
  /** True on the socket in the data directory: whoever gets there is the operator. */
  readonly isControl?: boolean
}

/** Of the whole interface. */
export type HttpAppOptions = AppOptions & Calls

/** Gives the request an id, and logs its end. */
const traced =
  (logger: Logger, inRequest: InRequest): Middleware =>
  async (ctx, next) => {
    const requestId = requestIdOf(ctx.headers['x-request-id'])
    const correlationId = correlationIdOf(requestId)
    const since = performance.now()
    ctx.state['requestId'] = requestId
    ctx.set('X-Request-ID', requestId)
    await inRequest(correlationId, next)
    const ms = Math.round(performance.now() - since)
    const ids = { requestId, ...(correlationId !== requestId && { correlationId }) }
    logger.info({ ...ids, method: ctx.method, url: loggable(ctx.path, ctx.querystring), status: ctx.status, ms }, 'request')
  }

const refuse = (ctx: Context, refusal: HttpRefusal, logger: Logger): void => {
  const { status, body, headers } = errorResponse(refusal)
  if (status >= 500) {
    const reason = 'reason' in refusal ? refusal.reason : undefined
    logger.warn({ requestId: ctx.state['requestId'], refusal: refusal._tag, reason }, 'request not served')
  }
  ctx.status = status
  ctx.set(headers)
  ctx.body = body
}

/** Turns what nobody expected into a 500 that tells nothing. */
const guarded =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      logger.error({ requestId: ctx.state['requestId'], err: error }, 'unexpected error in a request')
      refuse(ctx, { _tag: 'InternalError' }, logger)
    }
  }

/** What Node's server would refuse without a body; HTTP/1.0 knows neither header. */
const wellFormed =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    const { httpVersion, headers } = ctx.req
    if (httpVersion !== '1.1') return next()
    if (headers.host === undefined) return refuse(ctx, { _tag: 'HostMissing' }, logger)
    const expected = headers.expect?.toLowerCase() ?? '100-continue'
    return expected === '100-continue' ? next() : refuse(ctx, { _tag: 'ExpectationFailed' }, logger)
  }

const queryOf = (ctx: Context): Readonly<Record<string, ReadonlyArray<string>>> => {
  const search = new URLSearchParams(ctx.querystring)
  return Object.fromEntries(Array.from(new Set(search.keys()), (name) => [name, search.getAll(name)]))
}

const originOf = ({ address, host, encrypted, prefix }: Arrival, settings: HttpSettings): Origin => {
  const baseUrl = webSocketBase(settings, host, encrypted, prefix)
  const pagesUrl = baseUrl === '' ? pathBase(settings, prefix) : baseUrl.replace(/^ws/, 'http')
  const servers = serverAddresses(settings, baseUrl, prefixes(settings.basePath))
  return { baseUrl, pagesUrl, address: clientAddress(address), servers, strict: settings.compatStrict }
}

/**
 * What counts apart, by address. Probes and scrapers: nobody who shares their address may make a service look dead. The
 * console and the page for an audience: a visit loads several files, and many may come from one address.
 */
const APART: ReadonlyMap<Route, string> = new Map<Route, string>([
  ...operationRoutes.map((route) => [route, 'operations'] as const),
  ...[...consoleRoutes, ...embedFiles].map((route) => [route, 'pages'] as const),
])

/** Access first, then the body, then everything that the route reads and does. */
const ask = async <D>(
  ctx: Context,
  route: Route<D>,
  options: AppOptions & D,
  origin: Origin,
): Promise<E.Either<HttpRefusal, Answer>> => {
  const credentials = { authorization: ctx.headers.authorization, apiKey: ctx.headers['x-api-key']?.toString() }
  const counting = { address: origin.address, limits: options.limits ?? NO_LIMITS, publicly: APART.get(route) ?? 'address' }
  const caller: E.Either<HttpRefusal, Caller | null> =
    options.isControl === true
      ? await admitOperator(route, ctx.headers[ON_BEHALF_OF]?.toString(), options)
      : await admit(route.access, credentials, options, counting)
  if (E.isLeft(caller)) return caller
  const body = route.body === undefined ? E.right(undefined) : await readBody(ctx, route.body.kind)
  if (E.isLeft(body)) return body
  const params: Readonly<Record<string, string>> = ctx['params']
  return route.run({ params, query: queryOf(ctx), headers: ctx.headers, body: body.right }, caller.right, origin, options)
}

const routerOf = <D>(options: AppOptions & D, routes: ReadonlyArray<Route<D>>): Router => {
  const { settings } = options
  const router = new Router({ sensitive: true })
  const arrivalOf = createArrivals(settings.trustedProxies ?? [])
  for (const prefix of prefixes(settings.basePath))
    for (const route of routes)
      router.register(route.path === '/' && prefix !== '' ? prefix : `${prefix}${route.path}`, [route.method], async (ctx) => {
        const arrival = arrivalOf(ctx.req)
        const origin = originOf(arrival, settings)
        const answer = await ask(ctx, route, options, origin)
        if (E.isLeft(answer)) return refuse(ctx, answer.left, options.logger)
        ctx.status = answer.right.status
        ctx.set(route.response.headers ?? {})
        if (route.response.framable === true) {
          ctx.remove('X-Frame-Options')
          ctx.set('Content-Security-Policy', framableBy(settings.frameAncestors))
        }
        const file = route.response.isFile === true ? asFile(answer.right.body) : null
        if (file === null) ctx.body = answer.right.body
        else await sendFile(ctx, file)
        const address = { webSocketBase: origin.baseUrl, prefix: `${arrival.prefix}${prefix}`, path: ctx.path.slice(prefix.length) }
        const link = linkHeader(address, answer.right.listQuery, answer.right.body)
        if (link !== null) ctx.set('Link', link)
        const mediaType = file?.mediaType ?? answer.right.mediaType ?? route.response.mediaType
        if (mediaType !== undefined) ctx.type = mediaType
      })
  return router
}

/** What is left when no route took the request: a path with other methods, a socket's, or none at all. */
const unmatched = ({ logger, settings, limits = NO_LIMITS }: AppOptions): Middleware => {
  const arrivalOf = createArrivals(settings.trustedProxies ?? [])
  return (ctx) => {
    const counted = limits.take(`address ${clientAddress(arrivalOf(ctx.req).address)}`)
    if (E.isLeft(counted)) return refuse(ctx, counted.left, logger)
    const matched: ReadonlyArray<{ readonly methods: ReadonlyArray<string> }> = ctx['matched'] ?? []
    const isSocket = findTarget(ctx.path, prefixes(settings.basePath)) !== null
    if (isSocket && ['GET', 'HEAD'].includes(ctx.method)) return refuse(ctx, { _tag: 'UpgradeRequired' }, logger)
    const allow = isSocket ? ['GET'] : Array.from(new Set(matched.flatMap(({ methods }) => methods))).sort()
    refuse(ctx, allow.length === 0 ? { _tag: 'RouteNotFound' } : { _tag: 'MethodNotAllowed', allow }, logger)
  }
}

/** Routes as a Koa application; of headers that proxies set only `forwarded.ts` believes any. */
const appOf = <D>(options: AppOptions & D, routes: ReadonlyArray<Route<D>>): Koa => {
  const { logger, settings, version, inRequest = inNoRequest } = options
  const app = new Koa()
  app.on('error', (error: unknown) => logger.info(loggableError(error), 'response could not be sent'))
  app.use(traced(logger, inRequest))
  app.use(baseHeaders(version))
  app.use(protectiveHeaders)
  app.use(crossOrigin(settings.corsOrigins))
  app.use(guarded(logger))
  app.use(wellFormed(logger))
  app.use(routerOf(options, routes).routes())
  app.use(unmatched(options))
  return app
}

/** The HTTP side of the service. */
export const createHttpApp = (options: HttpAppOptions): Koa => appOf(options, ROUTES)

const NOBODY: AccessCalls = {
  authenticate: () => TE.right(O.none),
  authenticateKey: () => TE.right(O.none),
  whoAmI: () => TE.left({ _tag: 'UserNotFound' }),
}

/** Health and metrics alone, for a process that serves no clients. */
export const createOperationsApp = (options: Omit<AppOptions, keyof AccessCalls> & OperationCalls): Koa =>
  appOf({ ...options, ...NOBODY }, operationRoutes)
