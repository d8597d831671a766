import { availableParallelism, cpus, release, totalmem } from 'node:os'

/** One figure: what we do against a peer that does the same work, each as operations per second, measured in one run. */
export interface Benchmark {
  readonly name: string
  /** What is compared with what. */
  readonly meaning: string
  readonly peer: string
  /** Each call does one round and resolves to operations per second. */
  readonly prepare: () => Promise<{ readonly ours: () => Promise<number>; readonly peers: () => Promise<number>; readonly close: () => Promise<void> }>
}

export interface Figure {
  readonly name: string
  readonly meaning: string
  readonly peer: string
  readonly ours_per_s: number
  readonly peer_per_s: number
  /** Median of the rounds' ratios, ours over the peer's. */
  readonly ratio: number
}

const ROUNDS = 7

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Runs both in turn, so that what else the machine does falls on both, and compares round by round. */
export const measure = async ({ name, meaning, peer, prepare }: Benchmark): Promise<Figure> => {
  const { ours, peers, close } = await prepare()
  try {
    await ours()
    await peers()
    const rounds: Array<{ readonly ours: number; readonly peer: number }> = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push({ ours: await ours(), peer: await peers() })
    return {
      name,
      meaning,
      peer,
      ours_per_s: Math.round(median(rounds.map((round) => round.ours))),
      peer_per_s: Math.round(median(rounds.map((round) => round.peer))),
      ratio: Math.round(median(rounds.map((round) => round.ours / round.peer)) * 1000) / 1000,
    }
  } finally {
    await close()
  }
}

/** Operations per second of `count` operations done by `work`. */
export const rate = async (count: number, work: () => Promise<void> | void): Promise<number> => {
  const begin = performance.now()
  await work()
  return (count / (performance.now() - begin)) * 1000
}

/** What the figures depend on. */
export const machine = () => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memory_mb: Math.round(totalmem() / 2 ** 20),
  kernel: release(),
  node: process.version,
})
