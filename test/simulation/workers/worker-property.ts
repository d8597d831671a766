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

/** Random schedules of three workers that freeze, die, are taken for dead and wake: no rule of the log is ever broken. */
export const assertOneWorkerATerm = async (t: ExecutionContext, schedules: number): Promise<void> => {
  let [takenOver, fenced, segments] = [0, 0, 0]
  const seed = Math.floor(chanceOf(t).random('schedules')() * 2 ** 31)
  await fc.assert(
    fc.asyncProperty(schedule, async (chosen) => {
      const outcome = await runSchedule(chosen)
      takenOver += outcome.takenOver
      fenced += outcome.fenced
      segments += outcome.segments
      if (outcome.wrong.length > 0) throw new Error(outcome.wrong.join('\n'))
    }),
    { numRuns: schedules, endOnFailure: true, seed },
  )
  t.log(`${schedules} schedules, ${takenOver} lives taken over, ${fenced} fences, ${segments} segments`)
  t.true(takenOver > schedules && segments > schedules, 'too few to prove anything')
}
