import { METRIC_TEXTS } from '../../infrastructure/observability/metric-texts.ts'
import { createMetrics } from '../../infrastructure/observability/metrics.ts'
import { code, page, table } from './markdown.ts'

const zero = (): number => 0

/** Reads the type of each metric from the registry. */
const types = async (): Promise<ReadonlyMap<string, string>> => {
  const metrics = createMetrics({
    vramReserved: zero, vramTotal: zero, compute: { lanes: zero, taken: zero }, projectionLags: () => [],
    readYourWritesTimeouts: zero,
    translations: () =>
      ({ done: 0, failed: 0, dropped: 0, skipped: 0, waiting: 0, lagSeconds: 0 }), droppedFinals: zero,
    lags: { current: () => [], onPass: () => undefined }, leftOutWords: () => ({}), lostSeconds: zero,
    eventStoreAnswers: () => true, leaderChanges: zero, clockSkews: () => [],
    sourceIsolation: () => true,
    cluster: {
      members: () => [], workers: zero, lost: zero, leases: () => [], moved: zero, unplaced: zero,
      links: () => ({ open: 0, failed: 0 }),
    },
  })
  return new Map(
    [...(await metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
}

export const metricsPage = async (): Promise<string> => {
  const typeOf = await types()
  const missing = [...typeOf.keys()].filter((name) => !Object.hasOwn(METRIC_TEXTS, name))
  if (missing.length > 0) throw new Error(`metrics without a text: ${missing.join(', ')}`)
  type MetricText = readonly [name: string, text: { readonly help: string; readonly watch?: string }]
  const texts: ReadonlyArray<MetricText> = Object.entries(METRIC_TEXTS)
  return page(
    'Metrics',
    '`GET /metrics` returns Prometheus text. It needs no login unless METRICS_TOKEN is set. No metric names a user or '
      + 'a session. Administrators see the lag of each session at `GET /admin/lives?status=active`.',
    'A *pass* is one run of a model on a piece of audio. A *final segment* is text that does not change any more. A '
      + '*worker* is a process that transcribes sessions.',
    table(
      ['Metric', 'Type', 'Meaning', 'Check when'],
      texts.map(([name, { help, watch }]) => [code(name), typeOf.get(name) ?? '', help, watch ?? '']),
    ),
    'See [monitor](../operate/monitor.md) for health checks and an alarm file.',
  )
}
