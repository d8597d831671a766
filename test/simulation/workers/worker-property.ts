import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { chanceOf } from '../../support/tools/seeded.ts'
import { runSchedule } from './worker-simulation.ts'

const schedule = fc.record({
  seed: fc.integer(),
  actions: fc.integer({ min: 40, max: 120 }),
  late: fc.constantFrom(0, 0.05, 0.2),
  lost: fc.constantFrom(0, 0.05),
  doubled: fc.constantFrom(0, 0.1),
})

/** Runs random schedules of three workers that freeze, die, are declared lost and return. The log breaks no rule. */
export const assertOneWorkerPerTerm = async (t: ExecutionContext, schedules: number): Promise<void> => {
  let [takenOver, fenced, restarted, segments] = [0, 0, 0, 0]
  const seed = Math.floor(chanceOf(t).random('schedules')() * 2 ** 31)
  await fc.assert(
    fc.asyncProperty(schedule, async (scheduleInput) => {
      const outcome = await runSchedule(scheduleInput)
      takenOver += outcome.takenOver
      fenced += outcome.fenced
      restarted += outcome.restarted
      segments += outcome.segments
      if (outcome.problems.length > 0) throw new Error(outcome.problems.join('\n'))
    }),
    { numRuns: schedules, endOnFailure: true, seed },
  )
  t.log(`${schedules} schedules, ${takenOver} takeovers, ${fenced} fences, ${restarted} restarts, ${segments} segments`)
  t.true(takenOver > schedules && restarted > schedules && segments > schedules, 'the schedules contain too few events')
}
