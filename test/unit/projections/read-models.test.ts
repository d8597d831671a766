import test from 'ava'
import type { StoredLiveEvent } from '../../../domain/live/events.ts'
import type { StoredUserEvent } from '../../../domain/user/events.ts'
import { liveCounts, liveTotals } from '../../../projections/live-counts/projection.ts'
import { liveTokens } from '../../../projections/live-tokens/projection.ts'
import { lives } from '../../../projections/lives/projection.ts'
import { users } from '../../../projections/users/projection.ts'
import { after } from '../../support/events/sample-events.ts'
import { envelopeOf, sealedLive } from '../../support/events/stored-events.ts'
import { specifyProjection } from '../../support/read-models/specify-projection.ts'

const live = (liveId = 7, userId = 3, at = 1000) => ({ liveId, userId, at: after(at) })
const started = (liveId = 7, at = 1000): StoredLiveEvent => ({ type: 'LiveStarted', data: live(liveId, 3, at) })
const finished = (liveId = 7, at = 2000): StoredLiveEvent =>
  ({ type: 'LiveFinished', data: { ...live(liveId, 3, at), reason: 'finish_route' } })
const failed = (liveId = 7, at = 2000): StoredLiveEvent =>
  ({ type: 'LiveFailed', data: { ...live(liveId, 3, at), code: 'engine_failed', detail: 'gone' } })
const aborted: StoredLiveEvent = { type: 'LiveAborted', data: { ...live(), reason: 'orphan' } }
const source = (pid: number | null): StoredLiveEvent =>
  ({ type: 'SourceStarted', data: { ...live(7, 3, 500), pid, sampleOffset: 0, nextSegment: 1, mediaSequence: null } })

const { commandId: _, senderTokenHash: __, listenerTokenHash: ___, liveId, at, ...facts } = sealedLive().data
const pending = { ...facts, id: liveId, status: 'pending', autoStartPid: null, createdAt: at, updatedAt: null }

test('a created session is pending, holds its reservation and has never changed', async (t) => {
  await specifyProjection(t, lives).given(sealedLive()).thenDocuments({ 7: pending })
})

test('a change of status sets the time of the last change of the session', async (t) => {
  await specifyProjection(t, lives)
    .given(sealedLive(), started())
    .thenDocuments({ 7: { ...pending, status: 'active', updatedAt: after(1000) } })
})

test('an ended session holds no reservation, for every kind of end', async (t) => {
  const over = { ...pending, vram: 0, updatedAt: after(2000) }
  await specifyProjection(t, lives)
    .given(sealedLive(), finished())
    .thenDocuments({ 7: { ...over, status: 'finished' } })
  await specifyProjection(t, lives)
    .given(sealedLive(), started(), finished())
    .thenDocuments({ 7: { ...over, status: 'finished' } })
  await specifyProjection(t, lives).given(sealedLive(), failed()).thenDocuments({ 7: { ...over, status: 'error' } })
})

test('an auto-started session shows its pid and keeps it after the end, no other session does', async (t) => {
  const auto = sealedLive({ autoStart: true })
  const over = { ...pending, autoStart: true, status: 'finished', vram: 0, updatedAt: after(2000) }
  await specifyProjection(t, lives).given(auto, finished()).thenDocuments({ 7: over })
  await specifyProjection(t, lives)
    .given(auto, source(4711), started(), finished())
    .thenDocuments({ 7: { ...over, autoStartPid: 4711 } })
  await specifyProjection(t, lives).given(sealedLive(), source(4711)).thenDocuments({ 7: pending })
})

test('attached and detached senders leave no trace in the session', async (t) => {
  const attached: StoredLiveEvent = { type: 'SenderAttached', data: { ...live(), epoch: 1, instance: 'i' } }
  const detached: StoredLiveEvent = { type: 'SenderDetached', data: { ...live(), epoch: 1 } }
  await specifyProjection(t, lives).given(sealedLive(), attached, detached).thenDocuments({ 7: pending })
})

test('a session that was fenced before its creation is in no read model', async (t) => {
  await specifyProjection(t, lives).given(aborted).thenDocuments({})
  await specifyProjection(t, liveTokens).given(aborted).thenDocuments({})
  await specifyProjection(t, liveCounts).given(aborted).thenDocuments({})
})

test('a deleted session is in no list, its tokens find nothing, and the totals drop it', async (t) => {
  const deleted = (lastStatus: 'finished' | 'error'): StoredLiveEvent => ({
    type: 'LiveDeleted',
    data: { ...live(), lastStatus },
  })
  const none = { userId: 3, pending: [], active: [], finished: 0, error: 0 }
  await specifyProjection(t, lives).given(sealedLive(), finished(), deleted('finished')).thenDocuments({})
  await specifyProjection(t, liveTokens).given(sealedLive(), finished(), deleted('finished')).thenDocuments({})
  await specifyProjection(t, liveCounts).given(sealedLive(), finished(), deleted('finished')).thenDocuments({ 3: none })
  await specifyProjection(t, liveCounts).given(sealedLive(), failed(), deleted('error')).thenDocuments({ 3: none })
  await specifyProjection(t, liveCounts)
    .given(sealedLive({ liveId: 8 }), finished(8), sealedLive(), finished(), deleted('finished'))
    .thenDocuments({ 3: { ...none, finished: 1 } })
})

test('an event of a later version changes nothing', async (t) => {
  const later = { type: 'LiveApplauded', data: live() }
  const active = { ...pending, status: 'active', updatedAt: after(1000) }
  await specifyProjection(t, lives).given(sealedLive(), later, started()).thenDocuments({ 7: active })
  await specifyProjection(t, liveCounts).given(later).thenDocuments({})
  await specifyProjection(t, users).given({ type: 'UserApplauded', data: { userId: 3 } }).thenDocuments({})
})

test('both tokens of a session find it, also after its end', async (t) => {
  await specifyProjection(t, liveTokens).given(sealedLive(), started(), finished()).thenDocuments({
    '7-sender': { liveId: 7, userId: 3, role: 'sender', hash: 'hash of sender' },
    '7-listener': { liveId: 7, userId: 3, role: 'listener', hash: 'hash of listener' },
  })
})

test('the totals of a user contain the ids of open sessions and the number of ended sessions', async (t) => {
  const created = [1, 2, 3, 4].map((id) => sealedLive({ liveId: id }))
  await specifyProjection(t, liveCounts)
    .given(...created, sealedLive({ liveId: 5, userId: 8 }), started(2), started(3), finished(3), failed(4))
    .thenDocuments({
      3: { userId: 3, pending: [1], active: [2], finished: 1, error: 1 },
      8: { userId: 8, pending: [5], active: [], finished: 0, error: 0 },
    })
})

test('the totals of all users are counted in parts, so an event rewrites few ids', async (t) => {
  const created = [1, 2, 3].map((id) => sealedLive({ liveId: id }))
  await specifyProjection(t, liveTotals)
    .given(...created, sealedLive({ liveId: 5, userId: 8 }), started(2), finished(3), aborted)
    .thenDocuments({
      1: { userId: 0, part: 1, pending: [1], active: [], finished: 0, error: 0 },
      2: { userId: 0, part: 2, pending: [], active: [2], finished: 0, error: 0 },
      3: { userId: 0, part: 3, pending: [], active: [], finished: 1, error: 0 },
      5: { userId: 0, part: 5, pending: [5], active: [], finished: 0, error: 0 },
    })
})

test('the totals of a user stay true when the event of a creation or an end is damaged', async (t) => {
  const deleted = (id: number): StoredLiveEvent =>
    ({ type: 'LiveDeleted', data: { ...live(id), lastStatus: 'finished' } })
  const counts = { userId: 3, pending: [], active: [], finished: 1, error: 0 }
  const counted = [sealedLive({ liveId: 1 }), finished(1)]
  const damagedCreation = [started(2), finished(2)]
  const damagedEnd = [sealedLive({ liveId: 4 }), started(4)]
  await specifyProjection(t, liveCounts)
    .given(...counted, ...damagedCreation, finished(3), ...damagedEnd)
    .thenDocuments({ 3: { ...counts, active: [4], uncounted: [2, 3] } })
  await specifyProjection(t, liveCounts)
    .given(...counted, ...damagedCreation, finished(3), ...damagedEnd, deleted(2), deleted(3), deleted(4))
    .thenDocuments({ 3: counts })
  await specifyProjection(t, liveCounts).given(...counted, deleted(1)).thenDocuments({ 3: { ...counts, finished: 0 } })
})

const registered: StoredUserEvent = {
  type: 'UserRegistered',
  data: {
    userId: 3,
    username: envelopeOf('ada', 'user-3'),
    usernameHash: 'hash of ada',
    passwordHash: envelopeOf('password', 'user-3'),
    permissions: ['admin'],
    maxSessions: 10,
    maxTranslations: 5,
    at: after(0),
  },
}
const ada = {
  id: 3,
  username: envelopeOf('ada', 'user-3'),
  permissions: ['admin'],
  maxSessions: 10,
  maxTranslations: 5,
  isActive: true,
  createdAt: after(0),
  updatedAt: null,
}
const user = { userId: 3, at: after(1000) }

test('a user is listed without any password data', async (t) => {
  await specifyProjection(t, users).given(registered).thenDocuments({ 3: ada })
  await specifyProjection(t, users)
    .given(registered, {
      type: 'PasswordChanged',
      data: { ...user, passwordHash: envelopeOf('new', 'user-3'), generation: 1 },
    })
    .thenDocuments({ 3: { ...ada, updatedAt: after(1000) } })
  await specifyProjection(t, users)
    .given(registered, { type: 'PasswordRehashed', data: { ...user, passwordHash: envelopeOf('new', 'user-3') } })
    .thenDocuments({ 3: ada })
  await specifyProjection(t, users)
    .given(registered, { type: 'LoginsEnded', data: { ...user, generation: 1 } })
    .thenDocuments({ 3: ada })
})

test('a disabled user is listed as inactive until enabled again', async (t) => {
  const disabled: StoredUserEvent = { type: 'UserDisabled', data: user }
  await specifyProjection(t, users)
    .given(registered, disabled)
    .thenDocuments({ 3: { ...ada, isActive: false, updatedAt: after(1000) } })
  await specifyProjection(t, users)
    .given(registered, disabled, { type: 'UserEnabled', data: { ...user, at: after(2000) } })
    .thenDocuments({ 3: { ...ada, updatedAt: after(2000) } })
})

test('new limits and permissions of a user are listed', async (t) => {
  const limits: StoredUserEvent = { type: 'UserLimitsChanged', data: { ...user, maxSessions: 1, maxTranslations: 0 } }
  const permissions: StoredUserEvent = {
    type: 'UserPermissionsChanged',
    data: { ...user, permissions: [], at: after(2000) },
  }
  await specifyProjection(t, users)
    .given(registered, limits, permissions)
    .thenDocuments({ 3: { ...ada, maxSessions: 1, maxTranslations: 0, permissions: [], updatedAt: after(2000) } })
})
