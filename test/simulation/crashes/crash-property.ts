import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { runScenario } from './crash-world.ts'

const CREATES = 60

const scenario = fc.record({
  seed: fc.integer(),
  processes: fc.integer({ min: 1, max: 4 }),
  clients: fc.integer({ min: 1, max: 20 }),
  // The probabilities of a crash and of an unavailable store at each step. A start takes a step for every open session,
  // so with higher values no start would succeed.
  crash: fc.constantFrom(0, 0.005, 0.02),
  unavailable: fc.constantFrom(0, 0.02, 0.1),
  creates: fc.constant(CREATES),
})

/** Runs random scenarios of 60 creates: the log never breaks a rule, and no memory stays reserved. */
export const assertNothingLeaks = async (t: ExecutionContext, scenarios: number): Promise<void> => {
  let crashes = 0
  let created = 0
  let fenced = 0
  let [moved, restarted] = [0, 0]
  await fc.assert(
    fc.asyncProperty(scenario, async (scenarioInput) => {
      const outcome = await runScenario(scenarioInput)
      crashes += outcome.crashes
      created += outcome.created
      fenced += outcome.fenced
      moved += outcome.moved
      restarted += outcome.restarted
      if (outcome.problems.length > 0) throw new Error(outcome.problems.join('\n'))
    }),
    { numRuns: scenarios, endOnFailure: true },
  )
  t.log(
    `${scenarios * CREATES} creates: ${created} sessions, ${crashes} crashes, ${fenced} fenced creates, `
      + `${moved} moves, ${restarted} restarts`,
  )
  t.true(Math.min(crashes, fenced, moved) > scenarios && restarted > 0, 'the scenarios contain too few crashes')
}
