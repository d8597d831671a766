import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { median, medianLowerBound } from './statistics.ts'

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
  /** A second instance of the peer, if the benchmark also compares the peer with itself. */
  readonly peersAgain?: () => Promise<Round>
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
  /** Number of rounds. If it is odd, the median is a measured value. */
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
  /** Median, its lower 95 % bound, minimum and maximum of the rounds' ratios (ours divided by the peer's). */
  readonly ratio: number
  readonly ratio_lower: number
  readonly ratio_min: number
  readonly ratio_max: number
  /** The median ratios of both times; null without CPU times. */
  readonly wall_ratio: number
  readonly cpu_ratio: number | null
  /** The same of the peer against itself: how far equal code differs in this run. Null if it was not measured. */
  readonly peer_against_itself: { readonly ratio: number; readonly ratio_lower: number } | null
  readonly rounds: number
  readonly at_least: number | null
}

export interface SkippedFigure extends Skipped {
  readonly name: string
}

const rounded = (value: number): number => Number(value.toPrecision(4))

const perWallSecond = ({ work, seconds }: Round): number => work / seconds
const perCpuSecond = ({ work, cpuSeconds }: Round): number => work / (cpuSeconds ?? Number.NaN)

/** The rounds of the sides. Equal indexes belong to one turn. */
interface Measured {
  readonly ours: ReadonlyArray<Round>
  readonly peer: ReadonlyArray<Round>
  readonly again: ReadonlyArray<Round>
}

const ratiosOf = (
  speed: (round: Round) => number,
  rounds: ReadonlyArray<Round>,
  peer: ReadonlyArray<Round>,
): ReadonlyArray<number> => {
  const peerSpeeds = peer.map(speed)
  return rounds.map((round, index) => speed(round) / (peerSpeeds[index] ?? Number.NaN))
}

const middle = (ratios: ReadonlyArray<number>) =>
  ({ ratio: rounded(median(ratios)), ratio_lower: rounded(medianLowerBound(ratios)) })

const figureOf = (benchmark: Benchmark, { ours, peer, again }: Measured): Figure => {
  const { name, meaning, peer: peerMeaning, unit, basis, atLeast } = benchmark
  const knowsCpu = [...ours, ...peer, ...again].every(({ cpuSeconds }) => cpuSeconds !== null)
  const speed = basis === 'cpu' && knowsCpu ? perCpuSecond : perWallSecond
  const ratios = ratiosOf(speed, ours, peer)
  return {
    name,
    meaning,
    peer: peerMeaning,
    unit,
    basis: basis === 'cpu' && !knowsCpu ? 'wall' : basis,
    ours_per_s: rounded(median(ours.map(speed))),
    peer_per_s: rounded(median(peer.map(speed))),
    ...middle(ratios),
    ratio_min: rounded(Math.min(...ratios)),
    ratio_max: rounded(Math.max(...ratios)),
    wall_ratio: rounded(median(ratiosOf(perWallSecond, ours, peer))),
    cpu_ratio: knowsCpu ? rounded(median(ratiosOf(perCpuSecond, ours, peer))) : null,
    peer_against_itself: again.length === 0 ? null : middle(ratiosOf(speed, again, peer)),
    rounds: ours.length,
    at_least: atLeast,
  }
}

/**
 * True when the figure reaches its target. If the peer was also compared with itself, the lower bound counts, and as
 * much as the peer reaches against itself is enough.
 */
export const reachesTarget = ({ ratio, ratio_lower, at_least, peer_against_itself: itself }: Figure): boolean => {
  if (at_least === null) return true
  return itself === null ? ratio >= at_least : ratio_lower >= Math.min(at_least, itself.ratio_lower)
}

/**
 * Runs all sides in turn. The order alternates, so other load on the machine affects all of them. Calls `onRound` at
 * the start of each round.
 */
export const measure = async (
  benchmark: Benchmark,
  onRound: (round: number) => void = () => undefined,
): Promise<Figure | SkippedFigure> => {
  const contest = await benchmark.prepare()
  if ('skipped' in contest) return { name: benchmark.name, skipped: contest.skipped }
  const { ours: runOurs, peers: runPeer, peersAgain: runAgain, close } = contest
  const measured = { ours: new Array<Round>(), peer: new Array<Round>(), again: new Array<Round>() }
  const sides = [
    { run: runOurs, rounds: measured.ours },
    { run: runPeer, rounds: measured.peer },
    ...(runAgain === undefined ? [] : [{ run: runAgain, rounds: measured.again }]),
  ]
  try {
    if (benchmark.warmUp) for (const { run } of sides) await run()
    for (let round = 0; round < benchmark.rounds; round += 1) {
      onRound(round + 1)
      for (const { run, rounds } of round % 2 === 0 ? sides : sides.toReversed()) rounds.push(await run())
    }
    return figureOf(benchmark, measured)
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
