import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { reconcileLives } from '../../../../application/lives/policies/reconcile-lives.ts'
import { createReconciler } from '../../../../application/lives/policies/reconciler.ts'
import { creatorStateAmong } from '../../../../application/lives/policies/creator-state.ts'
import type { AdmissionCommand } from '../../../../domain/admission/decider.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { admitCommand, callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'
import { memberNamed, scriptedMembers } from '../admission/members.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

type WriteSide = Awaited<ReturnType<typeof createWriteSide>>

/** Admits a session without creating it, like a create that was interrupted. */
const orphan = async ({ admission, environment }: WriteSide, instance = environment.instance): Promise<void> => {
  const commandId = environment.newId()
  const command = admitCommand({ commandId, instance })
  right(await admission.send({ command, commandId, correlationId: commandId, actor: 'user:1' }))
}

/** Creates a restarted process on the same stores and admission. */
const restarted = (side: WriteSide) =>
  writeSideOf({ ...side.deps, environment: { ...side.environment, instance: 'restarted' } }, side.admission)

test('at start, running sessions finish, pending sessions stay, ended ones hold no memory', async (t) => {
  const side = await createWriteSide()
  const create = async (changes: Parameters<typeof requestOf>[0] = {}) =>
    right(await side.createLive(callerOf(1), requestOf(changes))).id
  const pending = await create()
  const active = await create()
  const detached = await create()
  const byConfig = await create({ audioFormat: 'hls', audioUrl: 'http://h/a' })
  const waiting = await create({ audioFormat: 'hls', audioUrl: 'http://h/b', autoStart: true })
  const attachedOnly = await create()
  for (const id of [active, detached, byConfig, attachedOnly]) right(await side.lifecycle.attachSender(id)())
  for (const id of [active, detached, byConfig]) right(await side.lifecycle.startLive(id))
  right(await side.lifecycle.detachSender(detached, 1)())
  await orphan(side)

  right(await restarted(side).start())
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [pending, waiting, attachedOnly, 7])
  for (const id of [active, detached, byConfig]) t.is(side.typesOf(`live-${id}`).at(-1), 'LiveFinished')
  t.is(
    side.typesOf(`live-${attachedOnly}`).at(-1),
    'SenderDetached',
    'the restarted process does not end a session that never started',
  )
  right(await restarted(side).reconcile())
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [pending, waiting, attachedOnly])
  t.deepEqual(side.typesOf('live-7'), ['LiveAborted'])

  const before = side.log().length
  right(await restarted(side).start())
  right(await restarted(side).reconcile())
  t.is(side.log().length, before)
})

test('a session created while its owner was disabled ends in the next round', async (t) => {
  const side = await createWriteSide()
  const { id } = right(await side.createLive(callerOf(1), requestOf()))
  const otherId = right(await side.createLive(callerOf(2), requestOf())).id
  right(await createReconciler({ ...side.deps, isDisabled: async (userId) => userId === 1 }).round())
  t.deepEqual(
    side
      .log()
      .filter(({ type }) => type === 'LiveFinished')
      .map(dataOf)
      .map((data) => [data['liveId'], data['reason']]),
    [[id, 'owner_disabled']],
  )
  t.deepEqual(side.admission.state().open.map(({ liveId }) => liveId), [otherId])
})

test('the memory of an ended session whose release was lost is released', async (t) => {
  const side = await createWriteSide()
  const { id } = right(await side.createLive(callerOf(1), requestOf()))
  const broken = {
    ...side.admission,
    send: async () => E.left({ _tag: 'StoreUnavailable', reason: 'test' } as const),
  }
  t.true(E.isLeft(await writeSideOf(side.deps, broken).finishLive(callerOf(1), id)))
  t.is(side.admission.state().open.length, 1)
  right(await side.reconcile())
  t.is(side.admission.state().open.length, 0)
})

test('an orphan of a gone process is fenced at once, of a live one after 60 s, of any other after 10 s', async (t) => {
  const side = await createWriteSide()
  await orphan(side, 'gone')
  await orphan(side, 'slow')
  await orphan(side, 'unseen')
  let clock = 0
  const creatorStateOf = (instance: string) => (instance === 'slow' ? 'alive' : instance === 'gone' ? 'gone' : 'unseen')
  const { round, isWatching } = createReconciler({
    ...side.deps,
    creatorStateOf,
    environment: { ...side.deps.environment, monotonic: () => clock },
  })
  const openAt = async (now: number) => {
    clock = now
    right(await round())
    return side.admission.state().open.map(({ instance }) => instance)
  }
  t.deepEqual(await openAt(0), ['slow', 'unseen'])
  t.deepEqual(await openAt(9999), ['slow', 'unseen'])
  t.deepEqual(await openAt(10_000), ['slow'])
  t.deepEqual(await openAt(59_999), ['slow'])
  t.true(isWatching())
  t.deepEqual(await openAt(60_000), [])
  await openAt(60_000)
  t.false(isWatching())
})

test('a process finds the state of a creator among the members; a single process knows only itself', (t) => {
  const { members } = scriptedMembers(memberNamed('api'), memberNamed('api-2', null))
  const [inCluster, single] = [creatorStateAmong(members, false), creatorStateAmong(members, true)]
  t.deepEqual(['api-1', 'api-2-1', 'another'].map(inCluster), ['unseen', 'alive', 'unseen'])
  t.deepEqual(['api-1', 'another'].map(single), ['unseen', 'gone'])
})

test('a session without a worker waits for the takeover grace, and again after another lost worker', async (t) => {
  let clock = 0
  const environment = { ...createTestEnvironment(), monotonic: () => clock }
  const side = await createWriteSide({ environment, takeoverGrace: 60_000 })
  const { id } = right(await side.createLive(callerOf(1), requestOf()))
  const send = async (command: AdmissionCommand) =>
    right(await side.admission.send({ command, commandId: environment.newId(), correlationId: 'c', actor: 'service' }))
  const workerOf = (incarnation: string) => ({ worker: 'worker-1', incarnation, at: environment.now() })
  const { round, isWatching } = createReconciler(side.deps)
  const typeAfter = async (now: number) => {
    clock = now
    right(await round())
    return side.typesOf(`live-${id}`).at(-1)
  }
  await send({ type: 'Leave', reason: 'lost', ...workerOf(environment.instance) })
  t.is(await typeAfter(0), 'LiveCreated')
  t.is(await typeAfter(59_999), 'LiveCreated')
  t.true(isWatching())
  await send({ type: 'Join', vram: 10, knowsRestart: true, ...workerOf('second') })
  t.is(await typeAfter(60_000), 'LiveCreated')
  await send({ type: 'Leave', reason: 'lost', ...workerOf('second') })
  t.is(await typeAfter(61_000), 'LiveCreated')
  t.is(await typeAfter(120_999), 'LiveCreated')
  t.is(await typeAfter(121_000), 'LiveFailed')
  t.deepEqual(side.admission.state().open, [])
})

test('the reconciler runs every 30 s, or every 10 s with an orphan; failures are logged and retried', async (t) => {
  let clock = 0
  let isUnavailable = false
  const memory = createMemoryEventStore()
  const store: EventStore = {
    ...memory,
    read:
      async (...args) =>
        isUnavailable ? E.left({ _tag: 'StoreUnavailable', reason: 'test' } as const) : await memory.read(...args),
  }
  const side = await createWriteSide({ store, environment: { ...createTestEnvironment(), monotonic: () => clock } })
  const logger = createRecordingLogger()
  const planned: Array<{ readonly ms: number; readonly task: () => void }> = []
  const after = (ms: number, task: () => void) => {
    planned.push({ ms, task })
    return () => undefined
  }
  const reconciler = reconcileLives({ ...side.deps, logger, timers: { after }, every: 30_000 })
  const round = async (): Promise<void> => {
    const { length } = planned
    planned.at(-1)?.task()
    await eventually(() => { if (planned.length === length) throw new Error('the round has not ended') })
  }

  await round()
  await orphan(side)
  await round()
  clock = 9999
  await round()
  t.is(side.admission.state().open.length, 1)

  clock = 10_000
  isUnavailable = true
  await round()
  t.is(logger.lines.length, 1)
  isUnavailable = false
  await round()
  t.is(side.admission.state().open.length, 0)
  t.true(memory.allEvents().some(({ type }) => type === 'LiveAborted'))
  await round()
  t.deepEqual(planned.map(({ ms }) => ms), [30_000, 30_000, 10_000, 10_000, 10_000, 10_000, 30_000])
  await reconciler.stop()
})
