import test from 'ava'
import type { Live } from '../../../../domain/live/state.ts'
import { reconcileLives } from '../../../../application/lives/policies/reconcile-lives.ts'
import { endInTerm, type EndRequest } from '../../../../application/lives/ending.ts'
import { expireLives, expiryCheckMs } from '../../../../application/lives/policies/expire-lives.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { admitSender, RECORD_AFTER_MS } from '../../../../application/lives/commands/admit-sender.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { admitCommand, callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

/** Ends a session after its transcription has finished. */
const endAfter =
  ({ deps }: Awaited<ReturnType<typeof createWriteSide>>, transcribed: Promise<void>) =>
  async (liveId: number, { cause, origin }: EndRequest) => {
    await transcribed
    return { position: right(await endInTerm(deps, liveId, { cause, origin, term: 1 })) }
  }

test('the reconciler finishes sessions at a limit and releases their memory', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now } })
  for (let count = 0; count < 3; count++) right(await side.createLive(callerOf(1), requestOf()))
  right(await side.lifecycle.attachSender(2)())
  right(await side.lifecycle.startLive(2))
  right(await side.lifecycle.attachSender(3)())
  const flushed: Array<number> = []
  const expiry = expireLives({
    ...side.deps,
    limits: { pendingTimeout: 60_000, maxDuration: 120_000 },
    endByWorker: (liveId, end) => {
      flushed.push(liveId)
      return endAfter(side, Promise.resolve())(liveId, end)
    },
  })
  let due: () => void = () => undefined
  let plans = 0
  const after = (_ms: number, task: () => void) => {
    due = task
    plans += 1
    return () => undefined
  }
  const reconciler = reconcileLives({ ...side.deps, logger: silentLogger, timers: { after }, expiry, every: 1000 })
  const open = (): ReadonlyArray<number> => side.admission.state().open.map(({ liveId }) => liveId)
  const round = async (at: number, expected: ReadonlyArray<number>): Promise<void> => {
    clock = Date.parse('2026-11-21T09:30:00Z') + at
    const before = plans
    due()
    await eventually(() => {
      if (plans === before) throw new Error('the round has not ended')
      if (open().join() !== expected.join()) throw new Error(`open are ${open().join()}`)
    })
  }
  await round(59_999, [1, 2, 3])
  await round(60_000, [2, 3])
  t.deepEqual(flushed, [], 'a session without audio is not flushed')
  await round(119_999, [2, 3])
  await round(120_000, [])
  t.deepEqual(flushed, [2])
  const reasons = side
    .log()
    .filter(({ type }) => type === 'LiveFinished')
    .map((event) => [dataOf(event)['liveId'], dataOf(event)['reason'], event.metadata.actor])
  t.deepEqual(
    reasons.toSorted((a, b) => Number(a[0]) - Number(b[0])),
    [
      [1, 'pending_timeout', 'service'],
      [2, 'max_duration', 'service'],
      [3, 'max_duration', 'service'],
    ],
  )
  await reconciler.stop()
})

test('a sender that comes at the last moment keeps its session', async (t) => {
  const { deps, lifecycle, createLive, typesOf, admission } = await createWriteSide()
  right(await createLive(callerOf(1), requestOf()))
  const expiry = expireLives({ ...deps, limits: { pendingTimeout: 1, maxDuration: 0 } })
  right(await lifecycle.attachSender(1)())
  // The state as it was read before the sender attached.
  const outdated = {
    status: 'pending',
    sender: null,
    senderAt: null,
    autoStartPid: null,
    created: { at: '2026-01-01T00:00:00.000000+00:00' },
  } as unknown as Live
  t.true(expiry.dueAt(outdated) <= Date.parse(deps.environment.now()))
  right(await expiry.end(1, outdated))
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'SenderAttached'])
  t.is(admission.state().open.length, 1)
})

test('open sessions are checked often enough for the shortest limit', (t) => {
  const every = (pendingTimeout: number, maxDuration: number) => expiryCheckMs({ pendingTimeout, maxDuration })
  t.deepEqual(
    [every(3_600_000, 86_400_000), every(0, 0), every(2000, 0), every(0, 100), every(60_000, 10_000)],
    [30_000, 30_000, 500, 250, 2500],
  )
})

test('a limited number of expiring sessions finishes in parallel, and fences do not wait for them', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const timers = createManualTimers()
  const { monotonic } = timers
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now, monotonic }, capacity: 1000 })
  const { admission, lifecycle, typesOf } = side
  for (let id = 1; id <= 200; id++) {
    right(await side.createLive(callerOf(1, { maxSessions: 1000 }), requestOf()))
    right(await lifecycle.attachSender(id)())
    right(await lifecycle.startLive(id))
  }
  /** One function for each running flush, which ends it. */
  const flushes: Array<() => void> = []
  const flushed: Array<number> = []
  const flush = async (liveId: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      flushes.push(resolve)
    })
    flushed.push(liveId)
  }
  const expiry = expireLives({
    ...side.deps,
    timers: createManualTimers(),
    limits: { pendingTimeout: 0, maxDuration: 60_000 },
    endByWorker: (liveId, end) => endAfter(side, flush(liveId))(liveId, end),
  })
  const reconciler = reconcileLives({ ...side.deps, logger: silentLogger, timers, expiry, every: 30_000 })
  const orphan = async (): Promise<number> => {
    const commandId = side.environment.newId()
    const command = admitCommand({ commandId, instance: 'died' })
    right(await admission.send({ command, commandId, correlationId: commandId, actor: 'user:1' }))
    return admission.state().lastLiveId
  }
  const waitUntilFenced = async (liveId: number): Promise<void> => {
    await eventually(() => {
      timers.advance(10_000)
      if (admission.state().open.some((held) => held.liveId === liveId)) throw new Error('not released')
      if (timers.size() === 0) throw new Error('the next round is not planned')
    })
    t.deepEqual(typesOf(`live-${liveId}`), ['LiveAborted'])
  }

  clock += 60_000
  await waitUntilFenced(await orphan())
  const concurrent = flushes.length
  t.true(concurrent > 16 && concurrent < 200, `${concurrent} flushes at a time`)
  await waitUntilFenced(await orphan())
  t.is(flushes.length, concurrent, 'a session that is being flushed is not flushed again')
  t.is(admission.state().open.length, 200)

  let batches = 0
  while (flushed.length < 200) {
    const before = flushed.length
    batches += 1
    flushes.splice(0).forEach((end) => end())
    await eventually(() => {
      const remaining = 200 - before - concurrent
      if (flushed.length < 200 && flushes.length < Math.min(concurrent, remaining))
        throw new Error('the next flushes have not begun')
    })
    t.true(flushes.length <= concurrent)
  }
  t.is(batches, Math.ceil(200 / concurrent))
  await eventually(() => {
    if (admission.state().open.length > 0) throw new Error('not all sessions are released')
  })
  t.is(new Set(flushed).size, 200)
  t.is(flushes.length, 0, 'no session is flushed twice')
  t.is(side.log().filter(({ type }) => type === 'LiveFinished').length, 200)
  await reconciler.stop()
})

test('stopping the reconciler waits for the ends that have begun', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now }, capacity: 1000 })
  for (let id = 1; id <= 40; id++) {
    right(await side.createLive(callerOf(1, { maxSessions: 1000 }), requestOf()))
    right(await side.lifecycle.attachSender(id)())
    right(await side.lifecycle.startLive(id))
  }
  const flushes: Array<() => void> = []
  const flush = (): Promise<void> => new Promise((resolve) => { flushes.push(resolve) })
  const timers = createManualTimers()
  const expiry = expireLives({
    ...side.deps, timers: createManualTimers(), limits: { pendingTimeout: 0, maxDuration: 60_000 },
    endByWorker: (liveId, end) => endAfter(side, flush())(liveId, end),
  })
  const reconciler = reconcileLives({ ...side.deps, logger: silentLogger, timers, expiry, every: 30_000 })
  clock += 60_000
  timers.advance(30_000)
  await eventually(() => { if (flushes.length < 32) throw new Error('not all slots are in use') })
  let hasStopped = false
  const stopping = reconciler.stop().then(() => { hasStopped = true })
  await eventually(() => { if (timers.size() > 0) throw new Error('a round is planned') })
  t.false(hasStopped)
  flushes.forEach((end) => end())
  await eventually(() => { if (!hasStopped) throw new Error('it still waits for other sessions') })
  await stopping
  t.is(flushes.length, 32)
  t.is(side.admission.state().open.length, 8)
})

test('a silent sender is recorded before PENDING_TIMEOUT can end its session', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now } })
  right(await side.createLive(callerOf(1), requestOf()))
  const recordAfterMs = async (pendingTimeout: number): Promise<number> =>
    right(await admitSender({ ...side.deps, pendingTimeout })(1)).recordAfterMs
  t.is(await recordAfterMs(3_600_000), RECORD_AFTER_MS)
  t.is(await recordAfterMs(4000), 2000)
  t.is(await recordAfterMs(0), RECORD_AFTER_MS, 'without PENDING_TIMEOUT nothing hurries')
  clock += 3_594_000
  t.is(await recordAfterMs(3_600_000), 3000)
  clock += 6001
  t.is(await recordAfterMs(3_600_000), 0)
})
