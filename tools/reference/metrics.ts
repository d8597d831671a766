import { METRIC_TEXTS } from '../../infrastructure/node/metric-texts.ts'
import { createMetrics } from '../../infrastructure/node/metrics.ts'
import { code, page, table } from './markdown.ts'

const none = (): number => 0

/** The type of each metric, as the registry says it. */
const types = async (): Promise<ReadonlyMap<string, string>> => {
  const metrics = createMetrics({
    vramReserved: none, vramTotal: none, compute: { lanes: none, taken: none }, projectionLags: () => [], readYourWritesTimeouts: none,
    translations: () => ({ done: 0, failed: 0, dropped: 0, skipped: 0, waiting: 0, lagSeconds: 0 }), droppedFinals: none,
    lags: { current: () => [], onHeard: () => undefined }, leftOutWords: () => ({}), lostSeconds: none, eventStoreAnswers: () => true, leaderChanges: none,
    sourceIsolation: () => true,
    cluster: {
      members: () => [], workers: none, lost: none, leases: () => [], moved: none, unplaced: none,
      links: () => ({ open: 0, failed: 0 }),
    },
  })
  return new Map([...(await metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
}

export const metricsPage = async (): Promise<string> => {
  const typeOf = await types()
  const untold = [...typeOf.keys()].filter((name) => !Object.hasOwn(METRIC_TEXTS, name))
  if (untold.length > 0) throw new Error(`metrics without a text: ${untold.join(', ')}`)
  const texts: ReadonlyArray<readonly [string, { readonly help: string; readonly watch?: string }]> = Object.entries(METRIC_TEXTS)
  return page(
    'Metrics',
    '`GET /metrics` answers Prometheus text. Everybody may read it, so no metric names a user or a session. '
      + 'Administrators see the lag of each session at `GET /admin/lives?status=active`.',
    table(['Metric', 'Type', 'Meaning', 'Look when'], texts.map(([name, { help, watch }]) => [code(name), typeOf.get(name) ?? '', help, watch ?? ''])),
    'See [monitor](../operate/monitor.md) for health checks and an alarm file.',
  )
}
