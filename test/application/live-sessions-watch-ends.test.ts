import test from 'ava'
import assert from 'node:assert/strict'
import type { Position, StoredEvent, SubscriptionMessage } from '../../application/ports/event-store.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { watchEnds } from '../../application/lives/policies/watch-ends.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'
import { eventually } from '../support/eventually.ts'

const position = (n: number): Position => String(n).padStart(4, '0') as Position

const eventAt = (n: number, type: string, data: Readonly<Record<string, unknown>>): SubscriptionMessage => {
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: '2026-11-21T09:30:00.123456+00:00' }
  const event: StoredEvent = { id: String(n), type, data, metadata, stream: `live-${n}`, revision: n, position: position(n) }
  return { kind: 'event', event }
}

const released = (liveId: number) => ({ liveId, at: '2026-11-21T09:30:00.123456+00:00' })
const about = (liveId: number) => ({ liveId, userId: 1, at: '2026-11-21T09:30:00.123456+00:00' })

test('an end is told once it is released and listed; others and unreadable ones are not; a lost subscription resumes from its own position', async (t) => {
  const from: string[] = []
  const logger = createRecordingLogger()
  const manual = createManualTimers()
  const waits: number[] = []
  const timers: Timers = {
    after: (ms, task) => {
      waits.push(ms)
      return manual.after(ms, task)
    },
  }
  const closing = new AbortController()
  const runs: ReadonlyArray<ReadonlyArray<SubscriptionMessage>> = [
    [eventAt(1, 'LiveStarted', about(1)), eventAt(2, 'LiveFinished', { ...about(2), reason: 'no reason of ours' }), { kind: 'checkpoint', position: position(5) }],
    [eventAt(6, 'LiveFinished', { ...about(6), reason: 'finish_route' })],
    [eventAt(7, 'LiveFailed', { ...about(7), code: 'engine_failed', detail: 'broken' }), eventAt(8, 'Released', released(7)), eventAt(9, 'Released', released(6))],
    [eventAt(10, 'LiveFinished', { ...about(10), reason: 'finish_route' }), eventAt(11, 'Released', released(2))],
  ]
  const store = {
    subscribe: async function* (start: Position): AsyncGenerator<SubscriptionMessage> {
      from.push(start)
      yield* runs[from.length - 1] ?? []
      throw new Error('the store went away')
    },
  }
  const told: unknown[] = []
  const listed: string[] = []
  const whenProjected = async (reached: Position): Promise<void> => {
    listed.push(reached)
  }
  const watching = (async () => {
    for await (const end of watchEnds({ store, from: position(0), logger, environment: { random: () => 0 }, timers, whenProjected }, closing.signal)) told.push({ liveId: end.liveId, cause: end.cause })
  })()
  await eventually(() => {
    manual.advance(5000)
    assert.ok(from.length >= 6)
  })
  t.deepEqual(told, [
    { liveId: 7, cause: { status: 'error', code: 'engine_failed', detail: 'broken' } },
    { liveId: 6, cause: { status: 'finished', reason: 'finish_route' } },
  ])
  t.deepEqual(listed, ['0007', '0006'], 'the terminal events are what the lists wait for')
  closing.abort()
  await watching
  t.deepEqual(from.slice(0, 5), ['0000', '0005', '0006', '0009', '0011'])
  t.deepEqual(waits.slice(0, 5), [50, 50, 50, 50, 100], 'a subscription that told something was no failure')
})
