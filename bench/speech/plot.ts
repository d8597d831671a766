import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

/** A live program on English recordings: word error rate, delay and CPU time. */
interface Point {
  readonly name: string
  readonly wer: number
  /** Median seconds from the end of a word until it stays unchanged on the screen. */
  readonly settled: number
  /** CPU seconds per second of audio. */
  readonly cpu: number
  readonly isOurs?: boolean
  /** True when it was measured on the other, harder recordings. */
  readonly isElsewhere?: boolean
}

/**
 * Results of other programs with the same weights, in real time on the same kind of machine (two cores). They ran on 20
 * English recordings (1,338 words) that are harder than our recordings. An earlier version of Stenolog was measured on
 * both sets of recordings, so its two points show the difference.
 */
const PEERS: ReadonlyArray<Point> = [
  { name: 'Stenolog 1f99de3', wer: 3.1, settled: 0.9, cpu: 0.62 },
  { isElsewhere: true, name: 'whisper_streaming', wer: 5.4, settled: 4.4, cpu: 1.55 },
  { isElsewhere: true, name: 'whisper_streaming, voice activity controller', wer: 9.5, settled: 3.1, cpu: 1.22 },
  { isElsewhere: true, name: 'SimulStreaming', wer: 6.1, settled: 3.8, cpu: 1.06 },
  { isElsewhere: true, name: 'Stenolog 1f99de3', wer: 6.5, settled: 4.2, cpu: 0.62 },
]

interface LiveResult {
  readonly settled_s: { readonly median: number | null }
  readonly engine_cpu_s_a_second: number | null
  readonly own_cpu_s_a_second: number
}

interface SpeechResult {
  readonly run: { readonly speed: string }
  readonly figures: ReadonlyArray<{
    readonly group: string
    readonly texts: Readonly<Record<string, { readonly wer: number | null }>>
    readonly live: LiveResult | null
  }>
}

const NOTHING: Pick<SpeechResult['figures'][number], 'texts' | 'live'> = { texts: {}, live: null }

/** Reads the English result from a JSON file of `npm run bench -- speech`. */
const pointOf = async (file: string): Promise<Point> => {
  const { run, figures } = JSON.parse(await readFile(file, 'utf8')) as SpeechResult
  const { texts, live } = figures.find(({ group }) => group === 'english') ?? NOTHING
  const wer = texts['live']?.wer
  const settled = live?.settled_s.median
  if (typeof wer !== 'number' || typeof settled !== 'number')
    throw new Error(`${file} contains no live run of English recordings with word times`)
  const cpu = (live?.engine_cpu_s_a_second ?? 0) + (live?.own_cpu_s_a_second ?? 0)
  return {
    name: `Stenolog, ${run.speed === 'real' ? 'real time' : 'virtual time'}`, wer, settled, cpu, isOurs: true,
  }
}

const [WIDTH, HEIGHT] = [460, 340]
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 20, 34, 46]
const INK = '#24292f'
const [OURS, THEIRS] = ['#0969da', '#8c959f']

/** Returns equal steps from 0 to the first step above the maximum. */
const ticks = (maximum: number, step: number): ReadonlyArray<number> =>
  Array.from({ length: Math.floor(maximum / step) + 2 }, (_, i) => Number((i * step).toFixed(6)))

interface Axis {
  readonly label: string
  readonly of: (point: Point) => number
  readonly step: number
}

const chart = (points: ReadonlyArray<Point>, x: Axis, left: number): string => {
  const y: Axis = { label: 'word error rate, %', of: ({ wer }) => wer, step: 2 }
  const scale = ({ of, step }: Axis) => ticks(Math.max(...points.map(of)), step)
  const [across, up] = [scale(x), scale(y)]
  const at = (value: number): number => left + LEFT + (value / (across.at(-1) ?? 1)) * (WIDTH - LEFT - RIGHT)
  const height = (value: number): number => HEIGHT - BOTTOM - (value / (up.at(-1) ?? 1)) * (HEIGHT - TOP - BOTTOM)
  const text = (content: string, [tx, ty]: readonly [number, number], more: string): string =>
    `<text x="${tx.toFixed(1)}" y="${ty.toFixed(1)}" ${more}>${content}</text>`
  const bottom = HEIGHT - BOTTOM
  return [
    ...up.map((tick) => {
      const line = `M${left + LEFT} ${height(tick).toFixed(1)}H${left + WIDTH - RIGHT}`
      const label = text(String(tick), [left + LEFT - 8, height(tick) + 4], 'text-anchor="end"')
      return `<path d="${line}" stroke="#d0d7de"/>${label}`
    }),
    ...across.map((tick) => text(String(tick), [at(tick), bottom + 18], 'text-anchor="middle"')),
    text(x.label, [left + (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8], 'text-anchor="middle" font-weight="bold"'),
    text(y.label, [left + LEFT, TOP - 14], 'font-weight="bold"'),
    ...points.map((point, index) => {
      const [cx, cy] = [at(x.of(point)), height(point.wer)]
      const colour = point.isOurs === true ? OURS : THEIRS
      const [fill, ink] = point.isElsewhere === true ? ['#fff', INK] : [colour, '#fff']
      const circle = `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="7" fill="${fill}" stroke="${colour}"/>`
      return circle + text(String(index + 1), [cx, cy + 4], `text-anchor="middle" fill="${ink}" font-size="10"`)
    }),
  ].join('\n')
}

const plotOf = (points: ReadonlyArray<Point>): string => {
  const lines = points.map(({ name, isOurs, isElsewhere }, index) => {
    const place = `x="${LEFT + (index % 2) * WIDTH}" y="${HEIGHT + 22 + 18 * Math.floor(index / 2)}"`
    const note = isElsewhere === true ? ' (other, harder recordings)' : ''
    return `<text ${place} fill="${isOurs === true ? OURS : INK}">${index + 1}  ${name}${note}</text>`
  })
  const height = HEIGHT + 30 + 18 * Math.ceil(points.length / 2)
  const font = 'font-family="system-ui, sans-serif" font-size="12"'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH} ${height}" ${font} fill="${INK}">
<title>Word error rate against delay and against CPU time</title>
<rect width="100%" height="100%" fill="#fff"/>
${chart(points, { label: 'seconds until a word is stable, median', of: ({ settled }) => settled, step: 1 }, 0)}
${chart(points, { label: 'CPU seconds per second of audio', of: ({ cpu }) => cpu, step: 0.5 }, WIDTH)}
${lines.join('\n')}
</svg>
`
}

/**
 * `npm run bench -- speech-plot FILE.json… --out FILE.svg`: plots English results of `speech --json` next to other
 * programs.
 */
export const speechPlot = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values, positionals } = parseArgs(
    { args: [...args], allowPositionals: true, options: { out: { type: 'string' } } },
  )
  if (values.out === undefined || positionals.length === 0)
    throw new Error('usage: npm run bench -- speech-plot FILE.json… --out FILE.svg')
  await writeFile(values.out, plotOf([...(await Promise.all(positionals.map(pointOf))), ...PEERS]))
}
