import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

export interface Readiness {
  readonly ready: boolean
  /** What was looked at; shown to anybody, so without secrets. */
  readonly checks: Readonly<Record<string, unknown>>
}

/** What these routes call. */
export interface OperationCalls {
  readonly readiness: () => Readiness
  /** The metrics in Prometheus' text format. */
  readonly metrics: () => Promise<string>
}

const live = publicRoute(
  {
    operationId: 'getLiveness',
    summary: 'Whether the process runs',
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
    summary: 'Whether the service can serve',
    method: 'GET',
    path: '/health/ready',
    response: { codec: readinessView, byStatus: { 200: readyView, 503: unreadyView } },
    refusals: [],
    status: (view) => (view.status === 'ok' ? 200 : 503),
  },
  async (_input, { readiness }: OperationCalls): Promise<E.Either<never, t.TypeOf<typeof readinessView>>> => {
    const { ready, checks } = readiness()
    return E.right(ready ? { status: 'ok', checks } : { status: 'unavailable', detail: 'Service is not ready', checks })
  },
)

const metrics = publicRoute(
  {
    operationId: 'getMetrics',
    summary: 'Metrics in the text format of Prometheus',
    method: 'GET',
    path: '/metrics',
    response: { codec: t.string, mediaType: 'text/plain; version=0.0.4; charset=utf-8' },
    refusals: [],
  },
  async (_input, { metrics: read }: OperationCalls) => E.right(await read()),
)

export const operationRoutes: ReadonlyArray<Route<OperationCalls>> = [live, ready, metrics]
