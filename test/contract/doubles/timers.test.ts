import assert from 'node:assert/strict'
import test from 'ava'
import type { Timers } from '../../../application/ports/timers.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { eventually } from '../../support/tools/eventually.ts'

const timersContract = (name: string, open: () => { readonly timers: Timers; readonly pass: () => void }): void => {
  test(`${name}: a task runs once and never in the same turn; a cancelled task does not run`, async (t) => {
    const { timers, pass } = open()
    const ran: Array<string> = []

    timers.after(0, () => ran.push('task'))
    const cancel = timers.after(0, () => ran.push('cancelled task'))
    cancel()
    t.deepEqual(ran, [])
    pass()
    await eventually(() => assert.notEqual(ran.length, 0))
    cancel()
    pass()
    await new Promise(setImmediate)

    t.deepEqual(ran, ['task'])
  })
}

timersContract('system timers', () => ({ timers: systemTimers, pass: () => undefined }))
timersContract('immediate timers', () => ({ timers: immediateTimers, pass: () => undefined }))
timersContract('manual timers', () => {
  const timers = createManualTimers()
  return { timers, pass: () => timers.advance(1) }
})

/** Sets tasks at 10 and 20 ms. The task at 10 ms sets another task 5 ms later. */
const scheduleThree = () => {
  const timers = createManualTimers()
  const ran: Array<string> = []
  const record = (name: string) => () => void ran.push(`${name} at ${timers.monotonic()}`)
  timers.after(20, record('second'))
  timers.after(10, () => {
    record('first')()
    timers.after(5, record('nested'))
  })
  return { timers, ran }
}

test('manual timers run due tasks at their time and in order, also tasks that a task sets', (t) => {
  const { timers, ran } = scheduleThree()
  timers.advance(9)
  t.deepEqual([ran.length, timers.size()], [0, 2])
  timers.advance(11)
  t.deepEqual(ran, ['first at 10', 'nested at 15', 'second at 20'])
  t.deepEqual([timers.size(), timers.monotonic()], [0, 20])
})

test('after a standstill manual timers run due tasks late, and new tasks wait from then on', (t) => {
  const { timers, ran } = scheduleThree()
  timers.standStill(30)
  t.deepEqual(ran, ['first at 30', 'second at 30'])
  timers.advance(5)
  t.deepEqual(ran.slice(2), ['nested at 35'])
})
