import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { chanceOf } from '../../support/tools/seeded.ts'
import { NO_FAULTS, type AppendFaults } from './worker-processes.ts'
import { createSimulatedWorkers } from './simulated-workers.ts'

interface Schedule extends AppendFaults {
  readonly seed: number
  /** The number of actions: creates, finals, ends, and workers that freeze, die or are declared lost. */
  readonly actions: number
}

/** Runs one schedule. Returns the broken rules and the counts. */
const runSchedule = async ({ seed, actions, ...faults }: Schedule) => {
  const simulation = createSimulatedWorkers(seed)
  const { rules, world, problems, step, checkPlacements, chance, random, act, begin, recover, end } = simulation
  await begin()
  world.setFaults(faults)
  for (let count = 0; count < actions && rules.violations().length === 0; count++) {
    act()
    for (let left = Math.floor(random() * 12); left > 0; left--) await step()
    if (chance(0.3)) await world.advance(random() * (chance(0.2) ? 4000 : 60))
  }
  world.setFaults(NO_FAULTS)
  await recover()
  checkPlacements()
  await end()
  const held = [...rules.placements().keys()]
  if (held.length > 0) problems.push(`sessions ${held.join()} were never released`)
  const count = (type: string): number => world.log().filter((event) => event.type === type).length
  return {
    problems: [...rules.violations(), ...problems],
    takenOver: count('LiveTakenOver'), fenced: count('SegmentsFenced'),
    restarted: count('WorkerRestarted'), segments: rules.segments(),
  }
}

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
