import test from 'ava'
import { createLiveBus } from '../../../../application/pipeline/live-bus.ts'
import type { LiveSignal } from '../../../../application/pipeline/signals.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'

const STARTED: LiveSignal = { kind: 'started' }
const ENDED: LiveSignal = { kind: 'ended', cause: { status: 'finished', reason: 'finish_message' } }

test('subscribers of a session receive its signals in the order of their subscriptions', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const received: string[] = []
  bus.subscribe(1, () => received.push('first'))
  bus.subscribe(1, () => received.push('second'))
  bus.subscribe(2, () => received.push('other session'))
  bus.publish(1, STARTED)
  t.deepEqual(received, ['first', 'second'])
})

test('a subscriber can unsubscribe itself or another subscriber during a signal', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const received: string[] = []
  const leaveFirst = bus.subscribe(1, () => {
    received.push('first')
    leaveFirst()
    leaveSecond()
  })
  const leaveSecond = bus.subscribe(1, () => received.push('second'))
  bus.subscribe(1, () => received.push('third'))
  bus.publish(1, STARTED)
  bus.publish(1, STARTED)
  t.deepEqual(received, ['first', 'third', 'third'])
})

test('a throwing subscriber is logged and does not block the next one', (t) => {
  const logger = createRecordingLogger()
  const bus = createLiveBus({ logger })
  const received: string[] = []
  bus.subscribe(1, () => {
    throw new Error('broken subscriber')
  })
  bus.subscribe(1, () => received.push('second'))
  bus.publish(1, STARTED)
  t.deepEqual(received, ['second'])
  t.is(logger.lines[0]?.level, 'error')
})

test('a session ends once, and a later subscriber receives the end immediately', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const early: string[] = []
  const late: string[] = []
  bus.subscribe(1, ({ kind }) => early.push(kind))
  bus.publish(1, ENDED)
  bus.publish(1, ENDED)
  bus.publish(1, STARTED)
  bus.subscribe(1, ({ kind }) => late.push(kind))
  t.deepEqual(early, ['ended'])
  t.deepEqual(late, ['ended'])
})
