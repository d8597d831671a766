import { hash, randomInt } from 'node:crypto'
import type { ExecutionContext } from 'ava'

/** Creates a generator of numbers from 0 to below 1. Equal seeds give equal numbers. */
export const createRandom = (seed: string): (() => number) => {
  let block = Buffer.alloc(0)
  let [blocks, offset] = [0, 0]
  return () => {
    if (offset === block.length) {
      block = hash('sha256', `${seed} ${blocks}`, 'buffer')
      blocks += 1
      offset = 0
    }
    offset += 4
    return block.readUInt32BE(offset - 4) / 2 ** 32
  }
}

/** The random numbers of a test. */
export interface Chance {
  readonly seed: string
  /** Creates the generator of this name. Each concurrent part of a test needs its own generator. */
  readonly random: (name: string) => () => number
}

/** Chooses a seed and logs it. `STENOLOG_TEST_SEED` sets the seed, to repeat a run. */
export const chanceOf = (t: Pick<ExecutionContext, 'log'>): Chance => {
  const seed = process.env['STENOLOG_TEST_SEED'] ?? String(randomInt(1_000_000))
  t.log(`STENOLOG_TEST_SEED=${seed} repeats this run`)
  return { seed, random: (name) => createRandom(`${seed} ${name}`) }
}
