import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { runScenario } from './crash-world.ts'

const CREATES = 60

const scenario = fc.record({
  seed: fc.integer(),
  processes: fc.integer({ min: 1, max: 4 }),
  atOnce: fc.integer({ min: 1, max: 20 }),
  // Of each step: a start settles every open live, so that with more no process would ever be up again.
  crash: fc.constantFrom(0, 0.005, 0.02),
  unavailable: fc.constantFrom(0, 0.02, 0.1),
  creates: fc.constant(CREATES),
})

/** Random scenarios of 60 creates each: no rule of the log is ever broken, and nothing hangs after the last start. */
export const assertNothingLeaks = async (t: ExecutionContext, scenarios: number): Promise<void> => {
  let crashes = 0
  let made = 0
  let fenced = 0
  let moved = 0
  await fc.assert(
    fc.asyncProperty(scenario, async (chosen) => {
      const outcome = await runScenario(chosen)
      crashes += outcome.crashes
      made += outcome.made
      fenced += outcome.fenced
      moved += outcome.moved
      if (outcome.wrong.length > 0) throw new Error(outcome.wrong.join('\n'))
    }),
    { numRuns: scenarios, endOnFailure: true },
  )
  t.log(
    `${scenarios * CREATES} creates, ${made} lives made, ${crashes} crashes, ${fenced} creates fenced off, ${moved} moves`,
  )
  t.true(crashes > scenarios && fenced > scenarios && moved > scenarios, 'too few crashes to prove anything')
}
