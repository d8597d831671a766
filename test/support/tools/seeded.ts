import { hash, randomInt } from 'node:crypto'
import type { ExecutionContext } from 'ava'

/** Numbers from 0 to below 1, the same ones for the same seed. */
export const createRandom = (seed: string): (() => number) => {
  let block = Buffer.alloc(0)
  let [blocks, at] = [0, 0]
  return () => {
    if (at === block.length) {
      block = hash('sha256', `${seed} ${blocks}`, 'buffer')
      blocks += 1
      at = 0
    }
    at += 4
    return block.readUInt32BE(at - 4) / 2 ** 32
  }
}

/** What a test leaves to chance. Whatever runs beside other things has random numbers of its own, by name: their order is its own too. */
export interface Chance {
  readonly seed: string
  readonly random: (name: string) => () => number
}

/** Of a seed that the test's log tells; `STENOLOG_TEST_SEED` gives it again. */
export const chanceOf = (t: Pick<ExecutionContext, 'log'>): Chance => {
  const seed = process.env['STENOLOG_TEST_SEED'] ?? String(randomInt(1_000_000))
  t.log(`chance: STENOLOG_TEST_SEED=${seed} gives the same again`)
  return { seed, random: (name) => createRandom(`${seed} ${name}`) }
}
