import test from 'ava'
import type { ClockSkew } from '../../../application/clock-skew.ts'
import type { ProjectionLag } from '../../../application/ports/projector.ts'
import { createHealth } from '../../../interfaces/compose/health.ts'
import { NOT_RUNNING } from '../../../projections/progress/follow-progress.ts'
import { createObserverCheck } from '../../../interfaces/http/clients/observers.ts'
import { startHttp } from './http-service.ts'

type Observed = Parameters<typeof createHealth>[0]

/** The text of a driver error. It contains an address and a password. */
const DRIVER_ERROR = 'connect ECONNREFUSED mongodb://root:hunter2@10.0.0.5:27017/stenolog'

interface Parts extends Partial<Pick<ProjectionLag, 'hasCaughtUp' | 'isOwn' | 'stuckAt' | 'share'>> {
  readonly isOlder?: boolean
  readonly skews?: ReadonlyArray<ClockSkew>
}

/** Returns the parts of a service with one projection. If `error` is not null, the projection retries after it. */
const partsWith = (
  error: string | null,
  { isOlder = false, hasCaughtUp = true, isOwn = true, stuckAt = null, share = null, skews = [] }: Parts = {},
): Observed =>
  ({
    admission: { state: () => ({ open: [], vramTotal: 0 }) },
    projector: {
      lag: () => [
        {
          projection: 'lives',
          position: '7',
          secondsBehind: 3,
          error,
          failures: error === null ? 0 : 2,
          rebuilding: false,
          stuckAt,
          share,
          hasCaughtUp,
          isOwn,
        },
      ],
      timeouts: () => 0,
    },
    lags: { onPass: () => undefined },
    discardCounter: {},
    log: { unreadable: () => [], isOlder: () => isOlder },
    keyring: { missing: () => [], foreign: () => [] },
    isolation: { problem: null },
    own: { pool: { whole: { pid: () => 1 } } },
    worker: null,
    store: { isAnswering: () => true, clocks: { all: () => skews, differing: () => skews } },
    readModels: { unreachable: () => null },
    failing: () => [],
    draining: () => false,
    cluster: null,
  }) as unknown as Observed

test('readiness says that no process runs a projection, and stays ready for everything else', (t) => {
  const { readiness } = createHealth(partsWith(NOT_RUNNING, { isOwn: false }))
  t.like(readiness?.(), { ready: true, checks: { projections: [{ error: 'no process runs this projection' }] } })
})

test('readiness reports that a projection is retrying, without the error text', async (t) => {
  const { readiness } = createHealth(partsWith(DRIVER_ERROR))
  const http = await startHttp(t, {}, { readiness })
  const answer = await http.send('GET', '/health/ready')
  const text = await answer.text()
  t.is(answer.status, 503)
  for (const part of ['ECONNREFUSED', 'mongodb', 'hunter2', '10.0.0.5']) t.false(text.includes(part), part)
  const { checks } = JSON.parse(text) as { readonly checks: { readonly projections: unknown } }
  t.deepEqual(checks.projections, [
    { projection: 'lives', seconds: 3, error: 'retrying', failures: 2, rebuilding: false, share: null, stuckAt: null },
  ])
  const healthy = await startHttp(t, {}, { readiness: createHealth(partsWith(null)).readiness })
  t.like(await (await healthy.send('GET', '/health/ready')).json(), {
    status: 'ok',
    checks: { projections: [{ error: null }] },
  })
})

test('a list that is stuck at an event is named, and the service stays ready for everything else', (t) => {
  const stuckAt = { stream: 'live-7', revision: 3, document: '7' }
  for (const hasCaughtUp of [true, false])
    t.like(createHealth(partsWith(DRIVER_ERROR, { stuckAt, hasCaughtUp })).readiness?.(), {
      ready: true, checks: { projections: [{ projection: 'lives', error: 'retrying', stuckAt }] },
    })
})

test('readiness shows how far a list is that is built from an old log', (t) => {
  t.like(createHealth(partsWith(null, { hasCaughtUp: false, share: 0.36 })).readiness?.(), {
    ready: false, checks: { projections: [{ share: 0.36 }] },
  })
})

test('readiness in a cluster reports the number of workers and does not require one', (t) => {
  const cluster = { workers: () => 0 } as unknown as Observed['cluster']
  t.like(createHealth({ ...partsWith(null), cluster }).readiness?.(), { ready: true, checks: { workers: 0 } })
  t.false('workers' in (createHealth(partsWith(null)).readiness?.().checks ?? {}))
})

test('readiness names a clock that differs, and the service stays ready', async (t) => {
  const skews = [{ store: 'mongodb', seconds: -10 }] as const
  const http = await startHttp(t, {}, { readiness: createHealth(partsWith(null, { skews })).readiness })
  const answer = await http.send('GET', '/health/ready')
  t.is(answer.status, 200)
  t.like(await answer.json(), { status: 'ok', checks: { clocksThatDiffer: skews } })
})

test('a service whose event log was replaced by an older copy is not ready', (t) => {
  const { readiness } = createHealth(partsWith(null, { isOlder: true }))
  t.like(readiness?.(), { ready: false, checks: { eventStore: 'older' } })
})

test('a service whose projections have not caught up since its start is not ready', async (t) => {
  const http = await startHttp(t, {}, { readiness: createHealth(partsWith(null, { hasCaughtUp: false })).readiness })
  t.is((await http.send('GET', '/health/ready')).status, 503)
})

test('METRICS_TOKEN protects the metrics and the readiness checks', async (t) => {
  const token = 'the-metrics-token'
  const http = await startHttp(t, {}, { mayObserve: createObserverCheck(token) })
  const metrics = async (headers: Record<string, string>) => (await http.send('GET', '/metrics', { headers })).status
  t.is(await metrics({}), 401)
  t.is(await metrics({ authorization: 'Bearer another-metrics-token' }), 401)
  t.is(await metrics({ authorization: `Bearer ${token}` }), 200)
  const ready = async (headers: Record<string, string>) => {
    const answer = await http.send('GET', '/health/ready', { headers })
    return [answer.status, await answer.json()]
  }
  t.deepEqual(await ready({}), [200, { status: 'ok', checks: {} }])
  t.deepEqual(await ready({ authorization: `Bearer ${token}` }), [200, { status: 'ok', checks: { eventStore: 'ok' } }])
})
