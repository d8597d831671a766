import type { Quantiles } from '../../interfaces/cli/streaming/live-report.ts'
import { tableOf } from '../../interfaces/cli/table.ts'
import type { GroupFigures } from './figures.ts'

/** The groups in the tables. The JSON also has each language. */
const SHOWN: ReadonlySet<string> = new Set(['english', 'others'])

const HEADINGS = [
  'group', 'recordings', 'text', 'words', 'WER %', 'recall %', 'sub', 'ins', 'del', 'false ends', 'false capitals',
]

const cell = (value: number | null, digits = 2): string => (value === null ? '-' : value.toFixed(digits))
const pair = ({ median, p95 }: Quantiles): string => `${cell(median)} ${cell(p95)}`

/** Formats the results as two tables: the errors of the texts, and the delays and costs of the live run. */
export const reportOf = (figures: ReadonlyArray<GroupFigures>): string => {
  const shown = figures.filter(({ group }) => SHOWN.has(group))
  const texts = shown.flatMap(({ group, recordings, texts }) =>
    Object.entries(texts).map(([name, { wer, recall, errors }]) => {
      const { words, substituted, inserted, deleted, false_ends: ends, false_capitals: capitals } = errors
      return [group, recordings, name, words, cell(wer), cell(recall), substituted, inserted, deleted, ends, capitals]
    }),
  )
  const lives = shown.flatMap(({ group, live }) => {
    if (live === null) return []
    const { border_words: border, border_words_live: rightOffline, border_causes: causes } = live
    const { final_lag_s: lag, taken_back: back, engine_cpu_s_a_second: cpu } = live
    const rows: ReadonlyArray<readonly [string, string | number]> = [
      ['words at borders: doubled, inserted, lost, changed', Object.values(border).join(' ')],
      ['of these right offline, or no offline text', Object.values(rightOffline).join(' ')],
      [
        'same error offline, other error offline, spelling',
        `${causes.offline} ${causes.differently} ${causes.spelling}`,
      ],
      ['first display: median, p95', pair(live.first_display_s)],
      ['settled: median, p95', pair(live.settled_s)],
      ['settled, with the whole open segment shown', pair(live.settled_text_s)],
      [`final lag at a pause (${lag.pause.segments})`, pair(lag.pause)],
      [`final lag in running speech (${lag.running.segments})`, pair(lag.running)],
      [`final lag at the end of the audio (${lag.audio.segments})`, pair(lag.audio)],
      ['removed words, % of shown words', cell(back.caption, 1)],
      ['removed words, with the whole open segment shown', cell(back.text, 1)],
      ['segments', live.segments],
      ['passes per second', live.passes_a_second],
      ['CPU s per second: engine, pipeline', `${cell(cpu, 3)} ${cell(live.own_cpu_s_a_second, 3)}`],
    ]
    return rows.map(([name, value]) => [group, name, value])
  })
  return [
    tableOf(HEADINGS, texts),
    ...(lives.length === 0 ? [] : [tableOf(['group', 'live', ''], lives)]),
  ].join('\n\n')
}
