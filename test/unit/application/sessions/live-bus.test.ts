import test from 'ava'
import { createLiveBus } from '../../../../application/pipeline/live-bus.ts'
import type { LiveSignal } from '../../../../application/pipeline/signals.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'

const STARTED: LiveSignal = { kind: 'started' }
const ENDED: LiveSignal = { kind: 'ended', cause: { status: 'finished', reason: 'finish_message' } }

test('subscribers of a session receive its signals in the order of their subscriptions', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const heard: string[] = []
  bus.subscribe(1, () => heard.push('first'))
  bus.subscribe(1, () => heard.push('second'))
  bus.subscribe(2, () => heard.push('other live'))
  bus.publish(1, STARTED)
  t.deepEqual(heard, ['first', 'second'])
})

test('a subscriber may leave during a signal, itself or another one, and receives no more', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const heard: string[] = []
  const leaveFirst = bus.subscribe(1, () => {
    heard.push('first')
    leaveFirst()
    leaveSecond()
  })
  const leaveSecond = bus.subscribe(1, () => heard.push('second'))
  bus.subscribe(1, () => heard.push('third'))
  bus.publish(1, STARTED)
  bus.publish(1, STARTED)
  t.deepEqual(heard, ['first', 'third', 'third'])
})

test('a throwing subscriber is logged and does not block the next one', (t) => {
  const logger = createRecordingLogger()
  const bus = createLiveBus({ logger })
  const heard: string[] = []
  bus.subscribe(1, () => {
    throw new Error('broken subscriber')
  })
  bus.subscribe(1, () => heard.push('second'))
  bus.publish(1, STARTED)
  t.deepEqual(heard, ['second'])
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
