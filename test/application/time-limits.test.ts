import test from 'ava'
import type { Live } from '../../domain/live/decider.ts'
import { startReconciler } from '../../application/lives/reconciler.ts'
import { createExpire, lookEvery } from '../../application/lives/time-limits.ts'
import { eventually } from '../support/eventually.ts'
import { right } from '../support/projecting.ts'
import { createTestEnvironment, silentLogger } from '../support/test-environment.ts'
import { callerOf, createWriteSide, requestOf } from './write-side.ts'

test('R105: the reconciler finishes lives that have reached a limit, speaks them out, and gives their memory back', async (t) => {
  let clock = Date.parse('2026-11-21T09:30:00Z')
  const now = (): string => new Date(clock).toISOString().replace('Z', '000+00:00')
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now } })
  for (let count = 0; count < 3; count++) right(await side.createLive(callerOf(1), requestOf())())
  right(await side.lifecycle.attachSender(2)())
  right(await side.lifecycle.start(2)())
  right(await side.lifecycle.attachSender(3)())
  const flushed: Array<number> = []
  const expire = createExpire({
    ...side.deps,
    limits: { pendingTimeout: 60_000, maxDuration: 120_000 },
    flush: async (liveId) => void flushed.push(liveId),
  })
  let due: () => void = () => undefined
  let plans = 0
  const after = (_ms: number, task: () => void) => {
    due = task
    plans += 1
    return () => undefined
  }
  const reconciler = startReconciler({ ...side.deps, logger: silentLogger, timers: { after }, expire, every: 1000 })
  const open = (): ReadonlyArray<number> => side.admission.state().open.map(({ liveId }) => liveId)
  const round = async (at: number, expected: ReadonlyArray<number>): Promise<void> => {
    clock = Date.parse('2026-11-21T09:30:00Z') + at
    const before = plans
    due()
    await eventually(() => {
      if (plans === before) throw new Error('the round is not over')
    })
    t.deepEqual(open(), expected)
  }
  await round(59_999, [1, 2, 3])
  await round(60_000, [2, 3])
  t.deepEqual(flushed, [], 'nothing was said')
  await round(119_999, [2, 3])
  await round(120_000, [])
  t.deepEqual(flushed, [2])
  const reasons = side.log().filter(({ type }) => type === 'LiveFinished').map(({ data, metadata }) => [data['liveId'], data['reason'], metadata.actor])
  t.deepEqual(reasons, [[1, 'pending_timeout', 'service'], [2, 'max_duration', 'service'], [3, 'max_duration', 'service']])
  await reconciler.stop()
})

test('R105: a sender that comes at the last moment keeps its live', async (t) => {
  const { deps, lifecycle, createLive, typesOf, admission } = await createWriteSide()
  right(await createLive(callerOf(1), requestOf())())
  const expire = createExpire({ ...deps, limits: { pendingTimeout: 1, maxDuration: 0 }, flush: () => Promise.resolve() })
  right(await lifecycle.attachSender(1)())
  // As it was read before the sender came.
  const seen = { status: 'pending', sender: null, senderAt: null, autoStartPid: null, created: { at: '2026-01-01T00:00:00.000000+00:00' } } as unknown as Live
  right(await expire(1, seen))
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'SenderAttached'])
  t.is(admission.state().open.length, 1)
})

test('open lives are looked at often enough for the shortest limit', (t) => {
  const every = (pendingTimeout: number, maxDuration: number) => lookEvery({ pendingTimeout, maxDuration })
  t.deepEqual([every(3_600_000, 86_400_000), every(0, 0), every(2000, 0), every(0, 100), every(60_000, 10_000)], [30_000, 30_000, 500, 250, 2500])
})
