import test, { type ExecutionContext } from 'ava'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../../application/admission/join-worker.ts'
import type { EventStore, NewEvent } from '../../../../application/ports/event-store.ts'
import { liveStream } from '../../../../domain/live/events.ts'
import { openOf, placementOf, reservedVram, totalVram } from '../../../../domain/admission/state.ts'
import { right } from '../../../support/tools/right.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { admitCommand, callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'

const owner = callerOf(1)
const at = '2026-11-21T09:29:00.000000+00:00'

/** The data of `Admitted` in older versions: without `needs` and `term`, and always on the worker `local`. */
const earlier = (liveId: number) =>
  ({ liveId, userId: 1, worker: 'local', vram: 1, instance: 'gone', commandId: `command-${liveId}`, at })

const appending = (store: EventStore, environment: { readonly newId: () => string }) =>
  async (stream: string, ...events: ReadonlyArray<readonly [type: string, data: NewEvent['data']]>): Promise<void> => {
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: at }
    const all = events.map(([type, data]) => ({ id: environment.newId(), type, data, metadata }))
    right(await store.append(stream, 'any', all))
  }

/** Wraps a store and counts the events of each read of `admission`. */
const countingReads = (inner: EventStore) => {
  const counts: Array<number> = []
  const read: EventStore['read'] = async (stream, options) => {
    const events = await inner.read(stream, options)
    if (stream === 'admission') counts.push(right(events).length)
    return events
  }
  return { store: { ...inner, read }, counts }
}

/** Opens a log of an older version: sessions 1 and 2 are in its snapshot, session 3 came later, session 2 has ended. */
const openUpgraded = async (t: ExecutionContext, name: string, vram: number) => {
  const { deps, store, environment } = await createWriteSide({ joins: false })
  const append = appending(store, environment)
  await append(
    'admission',
    ['CapacitySet', { worker: 'local', vram: 100, at }],
    ['Admitted', earlier(1)],
    ['Admitted', earlier(2)],
  )
  await append('admission-snapshot', ['AdmissionSnapshotTaken', {
    revision: 2, capacity: [{ worker: 'local', vram: 100 }], open: [1, 2].map(earlier), lastLiveId: 2,
    commands: [1, 2].map(earlier).map(({ commandId, liveId }) => ({ commandId, liveId, at })),
  }])
  await append('admission', ['Released', { liveId: 2, at }], ['Admitted', earlier(3)])
  const { store: counted, counts } = countingReads(store)
  const admission = await createAdmissionActor({ ...deps, store: counted, logger: silentLogger, snapshotEvery: 5 })
  t.deepEqual(counts, [2], 'events before the snapshot are not read again')
  const self = { name, incarnation: environment.instance }
  right(await joinWorker({ admission, environment, knowsRestart: () => true }, self, vram))
  await admission.idle()
  const side = writeSideOf(deps, admission)
  const { keyedHash } = side.deps.credentials
  /** Records that the older version admitted session `liveId` for a create with this idempotency key. */
  const recordKey = async (key: string, liveId: number, request = requestOf()): Promise<void> => {
    const requestHash = keyedHash('create-request', JSON.stringify(request))
    const use = { userId: 1, commandId: `command-${liveId}`, requestHash, at }
    await append(`idem-${keyedHash('idempotency-key', `1\0${key}`)}`, ['IdempotencyKeyUsed', use])
  }
  return { deps, store, admission, side, recordKey }
}

for (const name of ['local', 'host-1'])
  test(`a worker named ${name} continues the log of an older version and takes over its sessions`, async (t) => {
    const { deps, store, admission } = await openUpgraded(t, name, 100)
    const { workers } = admission.state()
    t.deepEqual(workers.map(({ worker, incarnation }) => [worker, incarnation]), [[name, deps.environment.instance]])
    for (const liveId of [1, 3]) t.deepEqual(placementOf(admission.state(), liveId), { worker: name, term: 2 })
    t.is(placementOf(admission.state(), 2), null)
    t.deepEqual([reservedVram(admission.state()), totalVram(admission.state())], [2, 100])
    const restarted = await createAdmissionActor({ ...deps, logger: silentLogger })
    t.deepEqual(restarted.state(), admission.state())
    t.is(right(await store.read('snapshot-admission')).length, 1, 'new snapshots use a separate stream')
  })

test('a repeated create finds its session by the idempotency key that an older version stored', async (t) => {
  const { recordKey, store, admission, side } = await openUpgraded(t, 'local', 100)
  // Session 1 was admitted before the snapshot, session 3 after it. Session 3 was never created.
  await recordKey('first', 1)
  await recordKey('last', 3)
  const created = right(await side.createLive(owner, requestOf(), 'command-1'))
  t.is(created.id, 1, 'a repeated command returns its session')
  t.is(right(await side.createLiveOnce(owner, requestOf(), 'first')).id, 1)
  t.is(right(await side.createLiveOnce(owner, requestOf(), 'last')).id, 3)
  t.is(right(await side.createLiveOnce(owner, requestOf(), 'last')).id, 3)
  t.is(admission.state().lastLiveId, 3, 'no further session was admitted')
  t.deepEqual(right(await store.read(liveStream(3))).map((event) => dataOf(event)['commandId']), ['command-3'])
})

test('a key from an older version returns its ended session, even if the limits are lower now', async (t) => {
  const { recordKey, side } = await openUpgraded(t, 'local', 100)
  const request = requestOf({ translations: ['es', 'de'] })
  await recordKey('first', 1, request)
  right(await side.createLive(owner, request, 'command-1'))
  right(await side.finishLive(owner, 1))
  t.is(right(await side.createLiveOnce(callerOf(1, { maxTranslations: 1 }), request, 'first')).id, 1)
})

test('a worker that joins again holds all its earlier sessions, even if one append cannot move them all', async (t) => {
  const { deps, environment, admission } = await createWriteSide({ capacity: 1000 })
  for (let liveId = 1; liveId <= 450; liveId++) {
    const command = admitCommand({ commandId: `c-${liveId}`, instance: environment.instance })
    right(await admission.send({ command, commandId: `c-${liveId}`, correlationId: 'c', actor: 'user:1' }))
  }
  const joining = { admission, environment: deps.environment, knowsRestart: () => false }
  right(await joinWorker(joining, { name: 'worker-1', incarnation: 'second' }, 1000))
  t.is(openOf(admission.state(), 'worker-1').filter(({ term }) => term === 2).length, 450)
})
