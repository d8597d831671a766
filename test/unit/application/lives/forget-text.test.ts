import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openEvents } from '../../../../application/log/event-serialization.ts'
import { forgetText } from '../../../../application/lives/policies/forget-text.ts'
import { BEGINNING, type EventStore } from '../../../../application/ports/event-store.ts'
import type { Keyring } from '../../../../application/ports/keyring.ts'
import type { Timers } from '../../../../application/ports/timers.ts'
import { ERASED } from '../../../../domain/shared/event.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const finished = { status: 'finished', reason: 'finish_message' } as const
/** Waits for a condition. It throws instead of asserting: a failed ava assertion would end the test at once. */
const until = (holds: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => { if (!(await holds())) throw new Error('the condition does not hold') })

const instantAt = (seconds: number): string =>
  new Date(Date.parse('2026-11-21T09:30:00Z') + seconds * 1000).toISOString().replace('Z', '000+00:00')

test('unretained text is gone from the log and all copies a minute after the end', async (t) => {
  /** Seconds since the start. */
  let clock = 0
  const environment = { ...createTestEnvironment(), now: () => instantAt(clock) }
  const side = await createWriteSide({ environment })
  const { createLive, lifecycle, deps, store, documents } = side
  const caller = callerOf(1, { permissions: ['user_retention'] })
  right(await createLive(caller, requestOf()))
  right(await createLive(caller, requestOf({ retention: true })))
  for (const liveId of [1, 2]) {
    const text = {
      liveId,
      segment: 1,
      start: 0,
      end: 1,
      text: 'the secret',
      kind: 'transcription' as const,
      language: 'en',
    }
    right(await lifecycle.recordSegment(text))
  }
  const copy = right(await store.read('segments-1'))
  clock = 10
  for (const liveId of [1, 2]) right(await lifecycle.endLive(liveId, finished)())

  const waits: Array<{ readonly ms: number; readonly end: () => void }> = []
  const timers: Timers = {
    after: (ms, end) => {
      waits.push({ ms, end })
      return () => undefined
    },
  }
  let failures = 1
  const keyring: Keyring = {
    ...deps.keyring,
    erase: async (keys) => {
      if (failures-- > 0) return E.left({ _tag: 'KeyringUnavailable', reason: 'test' } as const)
      return await deps.keyring.erase(keys)
    },
  }
  const logger = createRecordingLogger()
  const forgetting = forgetText({ store, keyring, documents, environment, logger, timers, retentionMax: 0 })

  await until(() => waits.length === 1)
  t.is(waits[0]?.ms, 58_000)
  t.is(right(await store.read('segments-1')).length, 1)
  clock = 68
  waits[0]?.end()
  // The keyring was unavailable: the failure is logged, and the work is repeated.
  await until(() => waits.length === 2)
  t.is(logger.lines.length, 1)
  waits[1]?.end()
  await until(async () => right(await store.read('segments-1')).length === 0)
  t.like(right(await openEvents(deps.keyring)(copy))[0]?.data, { text: ERASED })
  t.is(right(await store.read('segments-2')).length, 1)
  await forgetting.stop()
})

/** A session of user 1 that has ended with one final. */
const endedSession = async () => {
  const side = await createWriteSide()
  right(await side.createLive(callerOf(1), requestOf()))
  const text = { text: 'the secret', kind: 'transcription', language: 'en' } as const
  right(await side.lifecycle.recordSegment({ liveId: 1, segment: 1, start: 0, end: 1, ...text }))
  right(await side.lifecycle.endLive(1, finished)())
  const isReadable = async (): Promise<boolean> => right(await side.store.read('segments-1')).length > 0
  return { ...side, isReadable }
}

test('a service that stops erases no text early, and the next start erases it', async (t) => {
  const { deps, documents, isReadable } = await endedSession()
  const erased: Array<ReadonlyArray<string>> = []
  const keyring = {
    ...deps.keyring,
    erase: (keys: ReadonlyArray<string>) => {
      erased.push(keys)
      return deps.keyring.erase(keys)
    },
  }
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const forgetting = forgetText({ ...deps, keyring, documents, logger, timers, retentionMax: 0 })
  await until(() => timers.size() > 0)
  await forgetting.stop()
  t.true(await isReadable())
  t.deepEqual(erased, [])
  const next = forgetText({ ...deps, documents, logger, timers: immediateTimers, retentionMax: 0 })
  await until(async () => !(await isReadable()))
  await next.stop()
})

test('a session with a damaged log keeps its text and delays no later session', async (t) => {
  const { createLive, lifecycle, deps, store, documents } = await createWriteSide()
  for (const liveId of [1, 2]) {
    right(await createLive(callerOf(1), requestOf()))
    right(
      await lifecycle.recordSegment({
        liveId,
        segment: 1,
        start: 0,
        end: 1,
        text: 'the secret',
        kind: 'transcription',
        language: 'en',
      }),
    )
    right(await lifecycle.endLive(liveId, finished)())
  }
  let reads = 0
  const read: EventStore['read'] = async (stream, options) => {
    if (stream !== 'live-1') return await store.read(stream, options)
    reads += 1
    return E.left(
      reads === 1
        ? { _tag: 'StoreUnavailable', reason: 'simulated' }
        : { _tag: 'LogCorrupted', reason: 'a flipped bit' },
    )
  }
  const logger = createRecordingLogger()
  const forgetting = forgetText({
    ...deps,
    store: { ...store, read },
    documents,
    logger,
    timers: immediateTimers,
    retentionMax: 0,
  })
  await until(async () => right(await store.read('segments-2')).length === 0)
  t.is(right(await store.read('segments-1')).length, 1)
  t.is(reads, 2)
  t.like(logger.lines, [{ level: 'warn' }, { level: 'error', fields: { stream: 'live-1' } }, { level: 'info' }])
  t.is(logger.lines.length, 3)
  await forgetting.stop()
})

test('unreadable sessions do not keep text beyond the longest retention', async (t) => {
  const { createLive, lifecycle, deps, store, documents } = await createWriteSide()
  right(await createLive(callerOf(1, { permissions: ['user_retention'] }), requestOf({ retention: true })))
  right(
    await lifecycle.recordSegment({
      liveId: 1,
      segment: 1,
      start: 0,
      end: 1,
      text: 'the secret',
      kind: 'transcription',
      language: 'en',
    }),
  )
  right(await lifecycle.endLive(1, finished)())
  const read: EventStore['read'] = (stream, options) =>
    stream === 'live-1'
      ? (async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }))()
      : store.read(stream, options)
  const damagedStore = { ...store, read }
  const forgetting = forgetText({
    ...deps,
    store: damagedStore,
    documents,
    logger: createRecordingLogger(),
    timers: immediateTimers,
    retentionMax: 1,
  })
  await until(async () => right(await store.read('segments-1')).length === 0)
  await forgetting.stop()
  t.pass()
})

test('a store whose subscriptions end immediately is retried after a pause', async (t) => {
  const { deps, documents, store } = await createWriteSide()
  const timers = createManualTimers()
  let subscriptions = 0
  const subscribe = () => {
    subscriptions += 1
    return store.subscribe(BEGINNING, [], AbortSignal.abort())
  }
  const forgetting = forgetText({
    ...deps,
    store: { ...store, subscribe },
    documents,
    logger: createRecordingLogger(),
    timers,
    retentionMax: 0,
  })
  await until(() => timers.size() === 1)
  t.is(subscriptions, 1)
  timers.advance(500)
  await until(() => subscriptions === 2)
  await forgetting.stop()
})
