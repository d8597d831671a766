import { mock } from 'node:test'
import test from 'ava'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'

const DAY_MS = 24 * 3600 * 1000

test.serial('a delay of a hundred days is waited for whole, and can be cancelled at any time', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let [ran, cancelledRan] = [0, 0]
  systemTimers.after(100 * DAY_MS, () => (ran += 1))
  const cancel = systemTimers.after(100 * DAY_MS, () => (cancelledRan += 1))
  const passDays = (days: number): void => {
    for (let day = 0; day < days; day += 1) mock.timers.tick(DAY_MS)
  }
  passDays(99)
  t.is(ran, 0)
  cancel()
  // The simulated clock moves by whole days, so each of the timers in a row may start up to a day late.
  passDays(6)
  t.deepEqual([ran, cancelledRan], [1, 0])
})
