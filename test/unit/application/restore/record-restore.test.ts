import test from 'ava'
import { v7 } from 'uuid'
import { nextId } from '../../../../application/log/next-id.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { lostDeletions } from '../../../../application/restore/lost-changes.ts'
import { eventsUntilNow, readHistory } from '../../../../application/restore/read-history.ts'
import { RESTORE_ACTOR, recordRestore, type Lost } from '../../../../application/restore/record-restore.ts'
import { evolve, initialState } from '../../../../domain/admission/state.ts'
import { eventReader } from '../../../../domain/read-event.ts'
import { LiveIdsSkipped } from '../../../../domain/admission/events.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { after } from '../../../support/events/sample-events.ts'
import { envelopeOf, sealedLive } from '../../../support/events/stored-events.ts'
import { right } from '../../../support/tools/right.ts'

type Step = readonly [stream: string, type: string, data: Readonly<Record<string, unknown>>, recordedAt?: string]

const at = after(0)

const idTaken = (kind: string): Step => [`seq-${kind}`, 'IdTaken', { at }]
const user = (userId: number): Step => [`user-${userId}`, 'UserRegistered', {
  userId, username: envelopeOf('name', `user-${userId}`), usernameHash: `hash ${userId}`,
  passwordHash: envelopeOf('password', `user-${userId}`), permissions: [], maxSessions: 1, maxTranslations: 1, at,
}]
const disabled = (userId: number): Step => [`user-${userId}`, 'UserDisabled', { userId, at }]
const enabled = (userId: number): Step => [`user-${userId}`, 'UserEnabled', { userId, at }]
const deletedUser = (userId: number): Step => [`user-${userId}`, 'UserDeleted', { userId, usernameHash: 'hash', at }]
const password = (userId: number, generation: number): Step => [`user-${userId}`, 'PasswordChanged', {
  userId, passwordHash: envelopeOf(`password ${generation}`, `user-${userId}`), generation, at,
}]
const token = (tokenId: number, type: string): Step => [`api-token-${tokenId}`, type, { tokenId, userId: 1, at }]
const issued = (tokenId: number): Step => [`api-token-${tokenId}`, 'ApiTokenIssued', {
  tokenId, userId: 1, name: envelopeOf('ci', 'user-1'), prefix: 'lt_', secretHash: 'hash', expiresAt: null, at,
}]
const admitted = (liveId: number): Step => ['admission', 'Admitted', {
  liveId, userId: 1, worker: 'w', vram: 1, needs: [], instance: 'i', commandId: `c${liveId}`, at,
}]
const created = (liveId: number): Step => {
  const { type, data } = sealedLive({ liveId })
  return [`live-${liveId}`, type, data]
}
const deletedLive = (liveId: number): Step =>
  [`live-${liveId}`, 'LiveDeleted', { liveId, userId: 1, at, lastStatus: 'finished' }]
const finished = (liveId: number): Step =>
  [`live-${liveId}`, 'LiveFinished', { liveId, userId: 1, at, reason: 'finish_route' }]
const failed = (liveId: number): Step =>
  [`live-${liveId}`, 'LiveFailed', { liveId, userId: 1, at, code: 'source_failed', detail: 'gone' }]
const claimed = (hash: string, userId: number): Step =>
  [`listener-token-${hash}`, 'ListenerTokenClaimed', { userId, at }]
const model = (modelId: number, name: string): Step => ['catalogue', 'ModelListed', { modelId, name, at }]

/** A log with these events, a minute apart unless they name their time. */
const logWith = async (steps: ReadonlyArray<Step>) => {
  const store = createMemoryEventStore()
  for (const [minute, [stream, type, data, recordedAt = after(minute * 60)]] of steps.entries()) {
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt }
    right(await store.append(stream, 'any', [{ id: v7(), type, data, metadata }]))
  }
  return store
}

const historyOf = async (store: Pick<EventStore, 'subscribe'>) => (await readHistory(eventsUntilNow(store))).history

interface Given {
  /** Events up to the backup. */
  readonly backup: ReadonlyArray<Step>
  /** Events after the backup. Null: the replaced log is gone. */
  readonly later: ReadonlyArray<Step> | null
  readonly keyNames?: ReadonlyArray<string>
  readonly unknownIds?: number
}

/** Restores a log. Returns what was written, and functions that use the restored log. */
const restore = async ({ backup, later, keyNames = [], unknownIds = 0 }: Given) => {
  const store = await logWith(backup)
  const restored = await historyOf(store)
  const replaced = later === null ? null : await historyOf(await logWith([...backup, ...later]))
  const lost: Lost = { replaced, keyNames, unknownIds, backupAt: at }
  const before = store.allEvents().length
  const environment = createTestEnvironment()
  const recorded = await recordRestore({ store, environment }, restored, lost)
  const write = { store, environment, keyring: createMemoryKeyring(), timers: immediateTimers }
  const cause = { correlationId: 'c', causationId: 'c', actor: 'user:1' }
  return {
    store, recorded, restored, replaced,
    written: store.allEvents().slice(before),
    next: async (kind: 'user' | 'profile' | 'api-token' | 'job') => right(await nextId(write)(kind, cause)),
  }
}

const typesOf = (events: ReadonlyArray<{ readonly stream: string; readonly type: string }>) =>
  events.map(({ stream, type }) => `${stream} ${type}`).filter((text) => !text.startsWith('restores '))

test('ids go on after those that the replaced log gave out, and the restore is an event', async (t) => {
  const { recorded, written, next } = await restore({
    backup: [idTaken('user'), user(1), idTaken('profile'), admitted(1)],
    later: [idTaken('user'), user(2), idTaken('user'), user(3), idTaken('profile'), idTaken('job'), admitted(2)],
  })
  t.deepEqual(typesOf(written), ['admission LiveIdsSkipped'])
  t.true(written.every(({ metadata }) => metadata.actor === RESTORE_ACTOR))
  t.like(written[0]?.data, { idOffsets: { user: 2, profile: 1, 'api-token': 0, job: 1 }, lost: 'known' })
  t.is(recorded.nextIds.live, 3)
  t.deepEqual([await next('user'), await next('user'), await next('profile'), await next('job')], [4, 5, 3, 2])
  t.is(await next('api-token'), 1)
})

test('a skipped session id is in the state of the admissions, whatever the order of events', async (t) => {
  const { written } = await restore({ backup: [admitted(1)], later: [admitted(2), admitted(3)] })
  const read = eventReader([LiveIdsSkipped])
  const events = written.flatMap((event) => read(event) ?? [])
  t.is(events.reduce(evolve, initialState).lastLiveId, 3)
  t.is(events.reduce(evolve, { ...initialState, lastLiveId: 9 }).lastLiveId, 9)
})

test('ids go on after those that keys are named after, and after skipped ids when the log is gone', async (t) => {
  const keyNames = ['user-4', 'live-2', 'text-9', 'keyring-probe']
  const backup = [idTaken('user'), user(1), admitted(1)]
  const byKeys = await restore({ backup, later: null, keyNames })
  t.deepEqual([byKeys.recorded.nextIds.live, await byKeys.next('user')], [10, 5])
  const unknown = await restore({ backup, later: null, keyNames, unknownIds: 1000 })
  const { nextIds } = unknown.recorded
  t.deepEqual([nextIds.live, await unknown.next('user'), await unknown.next('job')], [1010, 1005, 1001])
})

test('each restore of the same copy has another epoch, and skips the ids of all earlier ones', async (t) => {
  const backup = [idTaken('user'), user(1), admitted(1)]
  const first = await restore({ backup, later: [idTaken('user'), admitted(2)] })
  t.is(await first.next('user'), 3)
  const store = await logWith(backup)
  const lost = { replaced: await historyOf(first.store), keyNames: [], unknownIds: 0, backupAt: null }
  const second = await recordRestore({ store, environment: createTestEnvironment() }, await historyOf(store), lost)
  t.deepEqual([second.nextIds.user, second.nextIds.live], [4, 3])
  const epochs = [first.store, store].map((log) =>
    log.allEvents().flatMap(({ type, data }) => (type === 'LogRestored' ? [(data as { epoch: string }).epoch] : [])))
  t.is(new Set(epochs.flat()).size, 2)
})

test('what was taken away after the backup is taken away again', async (t) => {
  const { written, recorded } = await restore({
    backup: [user(1), user(2), user(3), disabled(3), issued(1), issued(2), issued(3), claimed('a', 1), model(1, 'x')],
    later: [
      disabled(1), disabled(2), enabled(2), enabled(3), password(1, 1), password(1, 2),
      token(1, 'ApiTokenRevoked'), token(2, 'ApiTokenDeactivated'), token(3, 'ApiTokenDeactivated'),
      token(3, 'ApiTokenActivated'), claimed('b', 9), model(2, 'y'),
      user(4), disabled(4), issued(5), token(5, 'ApiTokenRevoked'),
    ],
  })
  t.deepEqual(typesOf(written), [
    'user-1 UserDisabled', 'user-1 PasswordChanged', 'api-token-1 ApiTokenRevoked', 'api-token-2 ApiTokenDeactivated',
    'listener-token-b ListenerTokenClaimed', 'catalogue ModelListed',
  ])
  t.like(written.find(({ type }) => type === 'PasswordChanged')?.data, { generation: 2 })
  t.is(recorded.tokensSwitchedOff, 0)
})

test('sessions that ended after the backup end again, and sessions that may have ended are named', async (t) => {
  const backup = [created(1), created(2), created(3), created(4), finished(4)]
  const { written, recorded } = await restore({ backup, later: [finished(1), failed(2), created(5), finished(5)] })
  t.deepEqual(typesOf(written), ['live-1 LiveFinished', 'live-2 LiveFailed'])
  t.deepEqual(recorded.stillOpen, ['live-3'])
  const gone = await restore({ backup, later: null, unknownIds: 10 })
  t.deepEqual(gone.recorded.stillOpen, ['live-1', 'live-2', 'live-3'])
})

test('what was taken away is taken away again although the clock was a year ahead before the backup', async (t) => {
  const [stream, type, data] = enabled(1)
  const { written } = await restore({
    backup: [user(1), disabled(1), [stream, type, data, after(365 * 24 * 3600)]],
    later: [disabled(1)],
  })
  t.deepEqual(typesOf(written), ['user-1 UserDisabled'])
})

test('a replaced log that is older than the backup takes nothing away that was given back later', async (t) => {
  const earlier = [user(1), issued(1), disabled(1), password(1, 1)]
  const store = await logWith([...earlier, enabled(1), password(1, 2)])
  const lost = { replaced: await historyOf(await logWith(earlier)), keyNames: [], unknownIds: 0, backupAt: null }
  t.deepEqual((await recordRestore({ store, environment: createTestEnvironment() }, await historyOf(store), lost))
    .appliedAgain, [])
})

test('when the replaced log is gone, all API tokens are switched off, unless nothing was lost', async (t) => {
  const tokens = [issued(1), issued(2), issued(3)]
  const backup = [user(1), ...tokens, token(2, 'ApiTokenRevoked'), token(3, 'ApiTokenDeactivated')]
  const gone = await restore({ backup, later: null, unknownIds: 10 })
  t.deepEqual(typesOf(gone.written), ['admission LiveIdsSkipped', 'api-token-1 ApiTokenDeactivated'])
  t.like(gone.written[0]?.data, { lost: 'unknown' })
  t.is(gone.recorded.tokensSwitchedOff, 1)
  const nothingLost = await restore({ backup, later: null })
  t.deepEqual(typesOf(nothingLost.written), [])
})

test('a restore that leaves no administrator is recognised', async (t) => {
  const administrator = (userId: number, change: 'Added' | 'Removed'): Step =>
    ['administrators', `Administrator${change}`, { userId, revision: 0, at }]
  const backup = [user(1), user(2), user(3), administrator(1, 'Added'), administrator(2, 'Added')]
  const admins = async (later: ReadonlyArray<Step>) => (await restore({ backup, later })).recorded.administrators
  t.deepEqual(await admins([disabled(1)]), ['user-2'])
  t.deepEqual(await admins([disabled(1), administrator(1, 'Removed'), disabled(2), enabled(2)]), ['user-2'])
  t.deepEqual(await admins([administrator(3, 'Added'), disabled(1), disabled(2)]), [])
})

test('only what was deleted after the backup is deleted again', async (t) => {
  const { restored, replaced } = await restore({
    backup: [user(1), user(2), user(3), deletedUser(3), created(1), created(2), created(3), deletedLive(3)],
    later: [user(4), deletedUser(4), created(5), deletedLive(5), deletedUser(2), deletedLive(1)],
  })
  const erased = ['user-3', 'user-4', 'live-2', 'live-3', 'live-5', 'text-1']
  t.deepEqual(lostDeletions(restored, replaced, erased), ['live-1', 'live-2', 'user-2'])
  t.deepEqual(lostDeletions(restored, null, erased), ['live-2'])
})

test('events of a newer version and damaged events are named', async (t) => {
  const store = await logWith([user(1), ['user-1', 'UserFrozen', {}], ['user-1', 'UserDisabled', { userId: 'one' }]])
  const { problems, history } = await readHistory(eventsUntilNow(store))
  t.deepEqual([...problems], [
    'revision 1 of user-1 (UserFrozen) belongs to a newer version', 'revision 2 of user-1 is damaged',
  ])
  t.true(history.present.has('user-1'))
})
