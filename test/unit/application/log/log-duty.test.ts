import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { startLogDuty } from '../../../../application/log/log-duty.ts'
import type {
  EventStore,
  Position,
  StoredEvent,
  SubscriptionMessage,
} from '../../../../application/ports/event-store.ts'
import type { Timers } from '../../../../application/ports/timers.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { NO_CHECKPOINT, type Checkpoint } from '../../../../application/ports/documents.ts'

const metadata = {
  correlationId: 'c',
  causationId: 'c',
  actor: 'service',
  recordedAt: '2026-11-21T09:30:00.000000+00:00',
}
const positionOf = (number: number): Position => String(number).padStart(20, '0') as Position
const event = (number: number): StoredEvent => ({
  id: String(number),
  type: 'Happened',
  data: { number },
  metadata,
  stream: 'live-1',
  revision: number - 1,
  position: positionOf(number),
  storedAt: 0,
})
const EVENTS = [1, 2, 3].map(event)

/** Delivers the events after the position, then waits for more. */
const subscribe: EventStore['subscribe'] = async function* (
  from, _, signal,
): AsyncGenerator<SubscriptionMessage, void> {
  for (const event of EVENTS) if (event.position > from) yield { kind: 'event', event }
  await once(signal, 'abort')
}
const now = (): number => 0

/**
 * Runs a duty (a background task that follows the log) until it has waited `waitsWanted` times, or has done all work.
 * `failuresBefore`: how often each event fails before it succeeds. Returns the waits in ms, and the numbers of the
 * events that succeeded.
 */
const dutyThatFails = async (failuresBefore: ReadonlyMap<number, number>, waitsWanted = Infinity) => {
  const failuresLeft = new Map(failuresBefore)
  const done: Array<number> = []
  const waits: Array<number> = []
  const enough = Promise.withResolvers<void>()
  const timers: Timers = {
    after: (ms, task) => {
      waits.push(ms)
      if (waits.length === waitsWanted) enough.resolve()
      else void setImmediate().then(task)
      return () => undefined
    },
  }
  let checkpoint = NO_CHECKPOINT
  const documents = {
    checkpoint: async () => E.right(checkpoint),
    commit: async (_: unknown, __: unknown, reached: Checkpoint) => {
      checkpoint = reached
      return E.right(undefined)
    },
  }
  // Random 1 makes each wait as long as possible.
  const deps = {
    store: { subscribe, now },
    documents,
    environment: { random: () => 1, monotonic: () => 0 },
    logger: createRecordingLogger(),
    timers,
  }
  const duty = startLogDuty(deps, {
    name: 'duty',
    prefixes: ['live-'],
    concerns: () => true,
    perform: async (event) => {
      const number = Number(dataOf(event)['number'])
      const failures = failuresLeft.get(number) ?? 0
      failuresLeft.set(number, failures - 1)
      if (failures > 0) throw new Error('not yet')
      done.push(number)
      if (done.length === EVENTS.length) enough.resolve()
    },
    failure: 'not done; trying again',
  })
  await enough.promise
  void duty.stop()
  return { waits, done }
}

test('a failing duty is retried with growing pauses of at most half a minute', async (t) => {
  const { waits, done } = await dutyThatFails(new Map([[1, 1000]]), 9)
  t.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  t.deepEqual(done, [])
})

test('a duty that makes progress resets its pause and does nothing twice', async (t) => {
  const { waits, done } = await dutyThatFails(new Map([[1, 3], [2, 2]]))
  t.deepEqual(waits, [500, 1000, 2000, 500, 1000])
  t.deepEqual(done, [1, 2, 3])
})

test('irrelevant events advance the checkpoint every 500 events or 5 s', async (t) => {
  const saved: Array<string> = []
  let clock = 0
  const passed = Promise.withResolvers<void>()
  const subscribe: EventStore['subscribe'] = async function* (): AsyncGenerator<SubscriptionMessage, void> {
    const data = { userId: 1, at: metadata.recordedAt }
    for (let number = 1; number <= 1200; number++)
      yield { kind: 'event', event: { ...event(number), type: 'UserDisabled', data } }
    yield { kind: 'checkpoint', position: positionOf(1300) }
    clock = 5000
    yield { kind: 'checkpoint', position: positionOf(1400) }
    passed.resolve()
  }
  const documents = {
    checkpoint: async () => E.right(NO_CHECKPOINT),
    commit: async (_: unknown, __: unknown, { position, last }: Checkpoint) => {
      saved.push(`${Number(position)}, ${String(last?.revision)}`)
      return E.right(undefined)
    },
  }
  const environment = { random: () => 1, monotonic: () => clock }
  const timers: Timers = { after: () => () => undefined }
  const duty = startLogDuty(
    { store: { subscribe, now }, documents, environment, logger: createRecordingLogger(), timers },
    {
      name: 'duty',
      prefixes: ['live-'],
      concerns: () => false,
      perform: () => Promise.reject(new Error('no event concerns the duty')),
      failure: '',
    },
  )
  await passed.promise
  void duty.stop()
  t.deepEqual(saved, ['500, 499', '1000, 999', '1400, 1199'])
})
