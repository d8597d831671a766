import assert from 'node:assert/strict'
import test from 'ava'
import { RECONCILER_LEASE, reconcileLives } from '../../../../application/lives/policies/reconcile-lives.ts'
import { dutyLease, startLogDuty } from '../../../../application/log/log-duty.ts'
import { whileLeaseHeld } from '../../../../application/while-lease-held.ts'
import type { Documents } from '../../../../application/ports/documents.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { dutyCheckpoint } from '../../../../projections/rebuild/discard-newer-than-log.ts'
import { checkpointAt, duty as named } from '../../../support/read-models/checkpoints.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createMemoryDocuments } from '../../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryLeases } from '../../../support/doubles/memory/leases.ts'
import { right } from '../../../support/tools/right.ts'
import { advanceLive } from '../../../support/read-models/projector-processes.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { admitCommand, createWriteSide } from '../../../support/worlds/write-side.ts'

const NAME = 'chore'

const createWorld = () => {
  const [store, documents, leases] = [createMemoryEventStore(), createMemoryDocuments(), createMemoryLeases()]
  const done: Array<string> = []
  const start = (member: string, { commit }: Pick<Documents, 'commit'> = documents) => {
    const logger = createRecordingLogger()
    const deps = {
      store, documents: { checkpoint: dutyCheckpoint({ store, documents, logger }), commit },
      environment: createTestEnvironment(), logger, timers: systemTimers, leases: leases.of(member),
    }
    return startLogDuty(deps, {
      name: NAME,
      prefixes: ['live-'],
      concerns: ({ type }) => type === 'LiveCreated',
      perform: async ({ stream }) => void done.push(`${member} ${stream}`),
      failure: 'not done; trying again',
    })
  }
  return { store, documents, leases, done, start }
}

test('a duty runs in one process at a time, and the next one continues at its checkpoint', async (t) => {
  const { store, documents, leases, done, start } = createWorld()
  const duties = [start('a'), start('b')]
  await advanceLive(store, 1)
  await eventually(() => assert.deepEqual(done, ['a live-1']))
  await eventually(async () => assert.notEqual(right(await documents.checkpoint(named(NAME))).last, null))
  leases.depose(dutyLease(NAME))
  await advanceLive(store, 2)
  await eventually(() => assert.deepEqual(done, ['a live-1', 'b live-2']))
  t.is(leases.holderOf(dutyLease(NAME)), 'b')
  await Promise.all(duties.map(({ stop }) => stop()))
})

test('a frozen holder of a duty cannot move its checkpoint after a takeover', async (t) => {
  const { store, documents, leases, done, start } = createWorld()
  const frozen = Promise.withResolvers<void>()
  const outcomes: Array<string> = []
  const frozenDuty = start('a', {
    commit: async (...args) => {
      await frozen.promise
      const committed = await documents.commit(...args)
      outcomes.push(committed._tag)
      return committed
    },
  })
  await advanceLive(store, 1)
  await eventually(() => assert.deepEqual(done, ['a live-1']))
  leases.freeze('a')
  const secondDuty = start('b')
  await advanceLive(store, 2)
  await eventually(() => assert.deepEqual(done.slice(1), ['b live-1', 'b live-2']), { timeoutMs: 60_000 })
  const checkpointed = await eventually(async () => {
    const { position } = right(await documents.checkpoint(named(NAME)))
    assert.equal(position, right(await store.head()))
    return position
  })
  frozen.resolve()
  await eventually(() => assert.deepEqual(outcomes, ['Left']))
  t.is(right(await documents.checkpoint(named(NAME))).position, checkpointed)
  leases.thaw('a')
  await Promise.all([frozenDuty.stop(), secondDuty.stop()])
})

test('on an older copy of the log a duty starts again from the beginning', async (t) => {
  const { store, documents, done, start } = createWorld()
  await advanceLive(store, 1)
  right(await documents.commit(named(NAME), [], checkpointAt(right(await headOfLongerLog()))))
  const running = start('a')
  await eventually(() => assert.deepEqual(done, ['a live-1']))
  t.pass()
  await running.stop()
})

/** Returns the head of a longer log. */
const headOfLongerLog = async () => {
  const store = createMemoryEventStore()
  for (const liveId of [1, 2, 3]) await advanceLive(store, liveId)
  return await store.head()
}

test('a new holder of the reconciler lease starts the waiting time of each admission again', async (t) => {
  const timers = createManualTimers()
  const environment = { ...createTestEnvironment(), monotonic: timers.monotonic }
  const side = await createWriteSide({ environment })
  const commandId = environment.newId()
  const command = admitCommand({ commandId, instance: environment.instance })
  right(await side.admission.send({ command, commandId, correlationId: commandId, actor: 'user:1' }))
  const leases = createMemoryLeases()
  const open = () => side.admission.state().open.length
  let rounds = 0
  const refresh: typeof side.admission.refresh = async () => {
    rounds += 1
    return await side.admission.refresh()
  }
  const start = (member: string) =>
    whileLeaseHeld(leases.of(member), RECONCILER_LEASE, () =>
      reconcileLives({
        ...side.deps,
        admission: { ...side.admission, refresh },
        timers,
        logger: createRecordingLogger(),
        every: 30_000,
        first: 0,
      }),
    )
  /** Advances the clock and waits for the round that is due. */
  const round = async (ms: number): Promise<void> => {
    const before = rounds
    timers.advance(ms)
    await eventually(() => assert.ok(rounds > before))
    await eventually(() => assert.equal(timers.size(), 1))
  }
  const [a, b] = [start('a'), start('b')]
  await round(0)
  timers.advance(9_000)
  t.is(open(), 1)
  leases.depose(RECONCILER_LEASE)
  await eventually(() => assert.equal(leases.holderOf(RECONCILER_LEASE), 'b'))
  await eventually(() => assert.equal(timers.size(), 1))
  await round(0)
  timers.advance(9_999)
  t.is(open(), 1, 'the 9 s of the earlier holder do not count')
  await round(1)
  await eventually(() => assert.equal(open(), 0))
  await Promise.all([a.stop(), b.stop()])
})
