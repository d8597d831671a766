import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** The result of one side in one round. `work` is in the unit of the benchmark. CPU seconds are null without /proc. */
export interface Round {
  readonly work: number
  readonly seconds: number
  readonly cpuSeconds: number | null
}

/** Two sides that do equal work. Each call is one round. */
export interface Contest {
  readonly ours: () => Promise<Round>
  readonly peers: () => Promise<Round>
  readonly close: () => Promise<void>
}

/** The benchmark cannot run on this machine; `skipped` is the reason. */
export interface Skipped {
  readonly skipped: string
}

/** A comparison of our code with a peer that does equal work, measured in turn in one run. */
export interface Benchmark {
  readonly name: string
  /** Describes our side. */
  readonly meaning: string
  readonly peer: string
  /** The unit of work, such as `appends`. */
  readonly unit: string
  /** The time that the ratio uses: `wall` time, or `cpu` time of all processes. With `count` it uses no time. */
  readonly basis: 'wall' | 'cpu' | 'count'
  /** The target of the ratio; null without a target. */
  readonly atLeast: number | null
  /** Number of rounds. It is odd, so the median is a measured value. */
  readonly rounds: number
  /** Whether each side first runs a round that does not count. */
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
  /** Median, minimum and maximum of the rounds' ratios (ours divided by the peer's). */
  readonly ratio: number
  readonly ratio_min: number
  readonly ratio_max: number
  /** The median ratios of both times; null without CPU times. */
  readonly wall_ratio: number
  readonly cpu_ratio: number | null
  readonly rounds: number
  readonly at_least: number | null
}

export interface SkippedFigure extends Skipped {
  readonly name: string
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const rounded = (value: number): number => Number(value.toPrecision(4))

const perWallSecond = ({ work, seconds }: Round): number => work / seconds
const perCpuSecond = ({ work, cpuSeconds }: Round): number => work / (cpuSeconds ?? Number.NaN)

interface Pair {
  readonly ours: Round
  readonly peer: Round
}

const figureOf = ({ name, meaning, peer, unit, basis, atLeast }: Benchmark, pairs: ReadonlyArray<Pair>): Figure => {
  const ratios = (of: (round: Round) => number): ReadonlyArray<number> =>
    pairs.map((pair) => of(pair.ours) / of(pair.peer))
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

/**
 * Runs both sides in turn. The first side alternates, so other load on the machine affects both. Calls `onRound` at the
 * start of each round.
 */
export const measure = async (
  benchmark: Benchmark,
  onRound: (round: number) => void = () => undefined,
): Promise<Figure | SkippedFigure> => {
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

/** Describes the machine, on which the results depend. */
export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memory_mb: Math.round(totalmem() / 2 ** 20),
  kernel: release(),
  node: process.version,
  /** Load average of the last minute, including these benchmarks. */
  load_1m: rounded(loadavg()[0] ?? 0),
})
