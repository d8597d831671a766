import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

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

const ready = publicRoute<t.TypeOf<typeof readinessView>>(
  {
    operationId: 'getReadiness',
    summary: 'Whether the service can serve',
    method: 'GET',
    path: '/health/ready',
    response: { codec: readinessView, byStatus: { 200: readyView, 503: unreadyView } },
    refusals: [],
    status: (view) => (view.status === 'ok' ? 200 : 503),
  },
  async (_input, { readiness }) => {
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
  async (_input, deps) => E.right(await deps.metrics()),
)

export const operationRoutes: ReadonlyArray<Route> = [live, ready, metrics]
