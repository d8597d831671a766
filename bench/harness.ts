import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** What one side did in one round: `work` in the figure's unit. CPU seconds are null where the system does not tell them. */
export interface Round {
  readonly work: number
  readonly seconds: number
  readonly cpuSeconds: number | null
}

/** Two sides that do the same work; each call is one round. */
export interface Contest {
  readonly ours: () => Promise<Round>
  readonly peers: () => Promise<Round>
  readonly close: () => Promise<void>
}

/** What a benchmark needs is not on this machine. */
export interface Skipped {
  readonly skipped: string
}

/** One figure: what we do against a peer that does the same work, measured in turn in one run. */
export interface Benchmark {
  readonly name: string
  /** What is compared with what. */
  readonly meaning: string
  readonly peer: string
  /** What both sides make, e.g. `appends`. */
  readonly unit: string
  /** Which time the ratio is of: what passes, or what all processes together spend on CPUs; `count` where time plays no part. */
  readonly basis: 'wall' | 'cpu' | 'count'
  /** The ratio that is promised; null where none is. */
  readonly atLeast: number | null
  /** Odd, so that the median is one of them. */
  readonly rounds: number
  /** Each side has a round that does not count first, unless it needs none. */
  readonly warmUp: boolean
  readonly prepare: () => Promise<Contest | Skipped>
}

export interface Figure {
  readonly name: string
  readonly meaning: string
  readonly peer: string
  readonly unit: string
  readonly basis: Benchmark['basis']
  readonly ours_per_s: number
  readonly peer_per_s: number
  /** Median of the rounds' ratios, ours over the peer's, and the outermost of them. */
  readonly ratio: number
  readonly ratio_min: number
  readonly ratio_max: number
  /** The medians of both times; null where CPU time is not known. */
  readonly wall_ratio: number
  readonly cpu_ratio: number | null
  readonly rounds: number
  readonly at_least: number | null
}

export interface SkippedFigure extends Skipped {
  readonly name: string
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const rounded = (value: number): number => Number(value.toPrecision(4))

const perWallSecond = ({ work, seconds }: Round): number => work / seconds
const perCpuSecond = ({ work, cpuSeconds }: Round): number => work / (cpuSeconds ?? Number.NaN)

interface Pair {
  readonly ours: Round
  readonly peer: Round
}

const figureOf = ({ name, meaning, peer, unit, basis, atLeast }: Benchmark, pairs: ReadonlyArray<Pair>): Figure => {
  const ratios = (of: (round: Round) => number): ReadonlyArray<number> => pairs.map((pair) => of(pair.ours) / of(pair.peer))
  const cpuRatio = median(ratios(perCpuSecond))
  const knowsCpu = pairs.every((pair) => pair.ours.cpuSeconds !== null && pair.peer.cpuSeconds !== null)
  const measured = basis === 'cpu' && knowsCpu ? perCpuSecond : perWallSecond
  return {
    name,
    meaning,
    peer,
    unit,
    basis: basis === 'cpu' && !knowsCpu ? 'wall' : basis,
    ours_per_s: rounded(median(pairs.map((pair) => measured(pair.ours)))),
    peer_per_s: rounded(median(pairs.map((pair) => measured(pair.peer)))),
    ratio: rounded(median(ratios(measured))),
    ratio_min: rounded(Math.min(...ratios(measured))),
    ratio_max: rounded(Math.max(...ratios(measured))),
    wall_ratio: rounded(median(ratios(perWallSecond))),
    cpu_ratio: knowsCpu ? rounded(cpuRatio) : null,
    rounds: pairs.length,
    at_least: atLeast,
  }
}

/** Runs both in turn, each first in every other round, so that what else the machine does falls on both; compares round by round, and tells `onRound` which begins. */
export const measure = async (benchmark: Benchmark, onRound: (round: number) => void = () => undefined): Promise<Figure | SkippedFigure> => {
  const contest = await benchmark.prepare()
  if ('skipped' in contest) return { name: benchmark.name, skipped: contest.skipped }
  const { ours, peers, close } = contest
  try {
    if (benchmark.warmUp) {
      await ours()
      await peers()
    }
    const pairs: Array<Pair> = []
    for (let round = 0; round < benchmark.rounds; round += 1) {
      onRound(round + 1)
      if (round % 2 === 0) pairs.push({ ours: await ours(), peer: await peers() })
      else pairs.push({ peer: await peers(), ours: await ours() })
    }
    return figureOf(benchmark, pairs)
  } finally {
    await close()
  }
}

/** What the figures depend on. */
export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memory_mb: Math.round(totalmem() / 2 ** 20),
  kernel: release(),
  node: process.version,
  /** What else ran during the last minute, these benchmarks included. */
  load_1m: rounded(loadavg()[0] ?? 0),
})
