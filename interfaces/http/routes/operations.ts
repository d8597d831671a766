import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { headerText, members, optional } from '../codecs/validation.ts'
import { publicRoute, type Route } from '../route.ts'

export interface Readiness {
  readonly ready: boolean
  /** Results of the checks. They are public without METRICS_TOKEN, so they contain no secrets. */
  readonly checks: Readonly<Record<string, unknown>>
}

export interface OperationCalls {
  readonly readiness: () => Readiness
  /** Metrics in the text format of Prometheus. */
  readonly metrics: () => Promise<string>
  /** Checks the header Authorization (null: not sent) against METRICS_TOKEN. */
  readonly mayObserve: (authorization: string | null) => boolean
}

const observerHeaders = members({ authorization: optional(headerText, null) })

const live = publicRoute(
  {
    operationId: 'getLiveness',
    summary: 'Check whether the process runs',
    method: 'GET',
    path: '/health/live',
    response: { codec: t.strict({ status: t.literal('ok') }, 'Liveness') },
    refusals: [],
  },
  async () => E.right({ status: 'ok' as const }),
)

const readyView = t.strict({ status: t.literal('ok'), checks: t.UnknownRecord }, 'Ready')
const unreadyView = t.strict({ status: t.literal('unavailable'), detail: t.string, checks: t.UnknownRecord }, 'Unready')
const readinessView = t.union([readyView, unreadyView])

const ready = publicRoute(
  {
    operationId: 'getReadiness',
    summary: 'Check whether the service is ready; if METRICS_TOKEN is set, `checks` needs it as bearer token',
    method: 'GET',
    path: '/health/ready',
    headers: observerHeaders,
    response: { codec: readinessView, byStatus: { 200: readyView, 503: unreadyView } },
    refusals: [],
    status: (view) => (view.status === 'ok' ? 200 : 503),
  },
  async ({ headers }, calls: OperationCalls): Promise<E.Either<never, t.TypeOf<typeof readinessView>>> => {
    const { ready, checks: all } = calls.readiness()
    const checks = calls.mayObserve(headers.authorization) ? all : {}
    return E.right(ready ? { status: 'ok', checks } : { status: 'unavailable', detail: 'Service is not ready', checks })
  },
)

const metrics = publicRoute(
  {
    operationId: 'getMetrics',
    summary: 'Get the metrics in the text format of Prometheus; if METRICS_TOKEN is set, send it as bearer token',
    method: 'GET',
    path: '/metrics',
    headers: observerHeaders,
    response: { codec: t.string, mediaType: 'text/plain; version=0.0.4; charset=utf-8' },
    refusals: ['NotAuthenticated', 'InvalidCredentials'],
  },
  async ({ headers: { authorization } }, { metrics: read, mayObserve }: OperationCalls) => {
    if (mayObserve(authorization)) return E.right(await read())
    return E.left({ _tag: authorization === null ? 'NotAuthenticated' : 'InvalidCredentials' } as const)
  },
)

export const operationRoutes: ReadonlyArray<Route<OperationCalls>> = [live, ready, metrics]
