/** `npm run bench [-- NAME…] [--rounds N] [--json FILE]`: compares Stenolog with peers. See docs/bench.md. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { messageOf } from '../domain/shared/message-of.ts'
import { didYouMean } from '../domain/shared/nearest-name.ts'
import { withStatus } from '../interfaces/cli/status-line.ts'
import { CommandError, errorLines, quoted, usageError } from '../interfaces/command-error.ts'
import { comparisons } from './before/all.ts'
import { clusters } from './cluster.ts'
import { decoderSteps } from './decoder-step.ts'
import { demoLives } from './demo-lives.ts'
import { durableAppends } from './durable-append.ts'
import { machine, measure, reachesTarget, type Benchmark, type Figure, type SkippedFigure } from './harness.ts'
import { listCosts } from './list-cost.ts'
import { firstBuilds } from './first-build.ts'
import { growth } from './growth.ts'
import { gpuSessions } from './gpu/gpu-sessions.ts'
import { lives } from './lives.ts'
import { peers } from './peer.ts'
import { pipelines } from './pipeline.ts'
import { rebuilds } from './rebuild.ts'
import { relay } from './relay.ts'
import { services } from './service.ts'
import { sockets } from './sockets.ts'
import { speechCompare } from './speech/compare.ts'
import { speech } from './speech/main.ts'
import { speechPlot } from './speech/plot.ts'
import { speechSilence } from './speech/silence.ts'
import { speechSizing } from './speech/sizing.ts'
import { starts } from './start.ts'

const BENCHMARKS: ReadonlyArray<Benchmark> = [
  ...durableAppends, ...listCosts, ...rebuilds, ...firstBuilds, ...starts, ...pipelines, ...services, lives, demoLives,
  ...sockets, ...peers, relay, ...gpuSessions, ...decoderSteps, ...clusters, ...comparisons,
]

const lineOf = (figure: Figure | SkippedFigure): string => {
  if ('skipped' in figure) return `${figure.name}: skipped: ${figure.skipped}`
  const { name, ratio, ratio_min: least, ratio_max: most, at_least: target, peer_against_itself: itself } = figure
  const { basis, unit, ours_per_s: ours, peer_per_s: peers, meaning, peer } = figure
  const verdict = target === null ? '' : `, target ${target}: ${reachesTarget(figure) ? 'reached' : 'MISSED'}`
  const bound = itself === null ? ''
    : `, lower bound ${figure.ratio_lower}, the peer against itself ${itself.ratio}, lower bound ${itself.ratio_lower}`
  const speeds = `${ours} against ${peers} ${unit}${basis === 'count' ? '' : ` per ${basis} second`}`
  return `${name}: ${ratio} (${least} to ${most})${bound}${verdict}; ${speeds}\n  ours: ${meaning}\n  peer: ${peer}`
}

const OPTIONS = { json: { type: 'string' }, rounds: { type: 'string' } } as const

const measureAll = async (): Promise<void> => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const rounds = values.rounds === undefined ? null : Number(values.rounds)
  if (rounds !== null && !(Number.isInteger(rounds) && rounds > 0))
    throw usageError(`--rounds ${quoted(values.rounds ?? '')} is not a whole number above 0.`)
  const unknown = positionals.filter((wanted) => BENCHMARKS.every(({ name }) => name !== wanted))
  if (unknown.length > 0) {
    const names = BENCHMARKS.map(({ name }) => name)
    for (const name of unknown)
      console.error(`error: Unknown benchmark ${JSON.stringify(name)}.${didYouMean(name, names)}`)
    console.error(`hint: Benchmarks: ${names.join(', ')}`)
    process.exitCode = 2
  } else {
    const figures: Array<Figure | SkippedFigure> = []
    const wanted = BENCHMARKS.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
      .map((benchmark) => ({ ...benchmark, rounds: rounds ?? benchmark.rounds }))
    for (const [index, benchmark] of wanted.entries()) {
      const { name, rounds } = benchmark
      const step = `${index + 1} of ${wanted.length}: ${name}`
      const figure = await withStatus((status) => {
        status.show(step, 'preparing')
        return measure(benchmark, (round) => status.show(`${step}, round ${round} of ${rounds}`))
      })
      figures.push(figure)
      console.log(lineOf(figure))
    }
    if (values.json !== undefined)
      await writeFile(values.json, `${JSON.stringify({ machine: machine(), figures }, null, 2)}\n`)
  }
}

const [first, ...others] = process.argv.slice(2)
const runBenchmarks = (): Promise<void> => {
  if (first === 'growth') return growth(others)
  if (first === 'speech') return speech(others)
  if (first === 'speech-compare') return speechCompare(others)
  if (first === 'speech-plot') return speechPlot(others)
  if (first === 'speech-sizing') return speechSizing(others)
  return first === 'speech-silence' ? speechSilence(others) : measureAll()
}

const isParseError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

await runBenchmarks().catch((error: unknown) => {
  if (!isParseError(error) && !(error instanceof CommandError)) throw error
  console.error(errorLines(usageError(messageOf(error), 'See docs/bench.md for all benchmarks and options.')))
  process.exitCode = 2
})
