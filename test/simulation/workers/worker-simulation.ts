import { NO_FAULTS, type AppendFaults } from './worker-processes.ts'
import { createSimulatedWorkers } from './simulated-workers.ts'

export interface Schedule extends AppendFaults {
  readonly seed: number
  /** The number of actions: creates, finals, ends, and workers that freeze, die or are declared lost. */
  readonly actions: number
}

/** Runs one schedule. Returns the broken rules and the counts. */
export const runSchedule = async ({ seed, actions, ...faults }: Schedule) => {
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
