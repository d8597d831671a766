import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createWriteQueue } from '../../../../application/running/write-queue.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'

test('a segment that cannot be written because of a defect does not block the end of its session', async (t) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const closing = new AbortController()
  const queue = createWriteQueue({
    liveId: 7,
    logger,
    timers,
    environment: createTestEnvironment(),
    signal: closing.signal,
    track: () => undefined,
    superseded: () => undefined,
  })
  let ends = 0
  const segment = queue.add('segment', async () => { throw new Error('a defect') })
  const end = queue.add('end', async () => {
    ends += 1
    // An end is always retried: without it the memory of the session stays reserved until the next start.
    if (ends < 6) throw new Error('not yet')
    return E.right(undefined)
  })
  await eventually(() => {
    timers.advance(5000)
    assert.equal(queue.size(), 0)
  })
  t.deepEqual(await Promise.all([segment, end]), [false, true])
  t.is(ends, 6)
  t.is(logger.lines.filter(({ fields }) => fields['write'] === 'segment' && fields['permanent'] === true).length, 1)
})

test('a write is durable only when the store accepted it', async (t) => {
  const timers = createManualTimers()
  const closing = new AbortController()
  const options = {
    liveId: 7,
    logger: createRecordingLogger(),
    timers,
    environment: createTestEnvironment(),
    track: () => undefined,
  }
  const queue = createWriteQueue({ ...options, signal: closing.signal, superseded: () => undefined })
  t.true(await queue.add('segment', async () => E.right(undefined)))
  t.false(await queue.add('segment', async () => E.left({ _tag: 'LogCorrupted', reason: 'damaged' })))
  t.false(await queue.add('segment', async () => E.left({ _tag: 'KeyErased', key: 'text-7' })))

  let isUnavailable = true
  const write = async () =>
    isUnavailable ? E.left({ _tag: 'StoreUnavailable', reason: 'simulated' } as const) : E.right(undefined)
  const waiting = Array.from({ length: 10_000 }, () => queue.add('segment', write))
  t.false(await queue.add('segment', write), 'the queue is full')
  isUnavailable = false
  await eventually(() => {
    timers.advance(5000)
    assert.equal(queue.size(), 0)
  })
  t.true((await Promise.all(waiting)).every(Boolean))

  isUnavailable = true
  const late = queue.add('segment', write)
  closing.abort()
  t.false(await late)
})

for (const refusal of [
  { _tag: 'KeyErased', key: 'live-7' },
  { _tag: 'KeyMissing', key: 'live-7' },
  { _tag: 'LogCorrupted', reason: 'damaged' },
  { _tag: 'EventTypeUnknown', type: 'InventedLater', stream: 'live-7', revision: 0 },
] as const)
  test(`an end is retried until it is stored, also after ${refusal._tag}`, async (t) => {
    const timers = createManualTimers()
    const queue = createWriteQueue({
      liveId: 7,
      logger: createRecordingLogger(),
      timers,
      environment: createTestEnvironment(),
      signal: new AbortController().signal,
      track: () => undefined,
      superseded: () => undefined,
    })
    let attempts = 0
    const end = queue.add('end', async () => ((attempts += 1) < 6 ? E.left(refusal) : E.right(undefined)))
    await eventually(() => {
      timers.advance(5000)
      assert.equal(queue.size(), 0)
    })
    t.true(await end)
    t.is(attempts, 6)
  })
