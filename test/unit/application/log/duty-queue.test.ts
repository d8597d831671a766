import test from 'ava'
import { createDutyQueue, type DutyQueue, type Waiting } from '../../../../application/log/duty-queue.ts'
import { checkpointAt } from '../../../support/read-models/checkpoints.ts'
import { storedEvents } from '../../../support/events/stored-events.ts'
import type { Position } from '../../../../application/ports/event-store.ts'

const EVENTS = storedEvents(Array.from({ length: 4 }, () => ({ type: 'Any', data: {} })))

/** A queue with the first events of the log, due at these times. Null: an event without work. */
const queueWith = (...dues: ReadonlyArray<number | null>) => {
  const queue = createDutyQueue(checkpointAt('' as Position))
  const waiting = EVENTS.slice(0, dues.length).map((event, index): Waiting | undefined => {
    const due = dues[index] ?? null
    const added = due === null ? undefined : { event, due }
    queue.add(checkpointAt(event.position), added)
    return added
  })
  return { queue, of: (number: number): Waiting => waiting[number - 1] as Waiting }
}
const numberOf = (position: Position | undefined): number => Number(position ?? NaN)
const done = (queue: DutyQueue): number => numberOf(queue.done().position)
const next = (queue: DutyQueue): number => numberOf(queue.next()?.event.position)

test('the work that is due first comes next, whatever the order of the log', (t) => {
  const { queue, of } = queueWith(58, 8, 20)
  t.is(next(queue), 2)
  queue.complete(of(2))
  t.is(next(queue), 3)
  queue.postpone(of(3), 60)
  t.is(next(queue), 1)
})

test('the checkpoint moves over what is done, and over events without work', (t) => {
  const { queue, of } = queueWith(1, null, 1, null)
  t.deepEqual([done(queue), numberOf(queue.read().position)], [0, 4])
  queue.complete(of(3))
  t.is(done(queue), 0, 'the first event still waits')
  queue.complete(of(1))
  t.is(done(queue), 4)
  t.is(queue.next(), null)
})

test('the checkpoint stays before an event that is left out, and the work goes on', (t) => {
  const { queue, of } = queueWith(1, 1, 1)
  queue.skip(of(2))
  queue.complete(of(1))
  queue.complete(of(3))
  t.is(done(queue), 1)
  queue.add(checkpointAt(EVENTS[3]?.position as Position))
  t.is(done(queue), 1)
  t.is(queue.size(), 0)
})

test('an event that cannot be read is left out before its work is known', (t) => {
  const { queue, of } = queueWith(1)
  queue.skip()
  queue.add(checkpointAt(EVENTS[1]?.position as Position))
  queue.complete(of(1))
  t.is(done(queue), 1)
})
