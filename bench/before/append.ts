import type { Benchmark } from '../harness.ts'
import { appendAtOnce } from '../durable-append.ts'
import { contest } from './contest.ts'

const appends = (name: string, writers: number, count: number): Benchmark => ({
  name,
  meaning: `durable appends by ${writers} concurrent writers, each to its own stream; each writer waits for its `
    + `answers`,
  peer: 'the same appends with the checkout of STENOLOG_BENCH_BEFORE',
  unit: 'appends',
  basis: 'wall',
  atLeast: 0.95,
  rounds: 31,
  warmUp: true,
  prepare: () =>
    contest(async ({ modules: { openSqliteEventStore }, directory }) => ({
      round: async () => {
        // Each round opens a new store, because the core that the system picks for the writer's thread can change the
        // time threefold.
        const store = await openSqliteEventStore({ file: `${directory}.sqlite` })
        await appendAtOnce(store, writers, count)
        const round = await appendAtOnce(store, writers, count)
        await store.close()
        return round
      },
      close: async () => undefined,
    })),
})

/** Comparisons of the embedded event store with that of the other checkout. */
export const appendComparisons: ReadonlyArray<Benchmark> = [
  appends('before-append-1', 1, 1000),
  appends('before-append', 64, 12_800),
]
