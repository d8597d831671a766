import test from 'ava'
import fc from 'fast-check'
import { chanceOf } from '../../support/tools/seeded.ts'
import { runRelay } from './relay-simulation.ts'

const SCHEDULES = 150

test('through cuts, freezes and moves each listener receives all finals once and in order', async (t) => {
  const seed = Math.floor(chanceOf(t).random('schedules')() * 2 ** 31)
  let [moves, cuts, finals, listeners] = [0, 0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.record({ seed: fc.nat(), actions: fc.integer({ min: 20, max: 150 }) }), async (schedule) => {
      const outcome = await runRelay(schedule)
      moves += outcome.moves
      cuts += outcome.cuts
      finals += outcome.finals
      listeners += outcome.listeners
      if (outcome.problems.length > 0) throw new Error(outcome.problems.join('\n'))
    }),
    { numRuns: SCHEDULES, endOnFailure: true, seed, includeErrorInReport: true },
  )
  t.log(`${SCHEDULES} schedules: ${finals} finals, ${moves} moves, ${cuts} cuts, ${listeners} listeners`)
  t.true(finals > SCHEDULES * 5 && moves > SCHEDULES && listeners > SCHEDULES, 'the schedules contain too few events')
})
