import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { administratorsDecider, type AdministratorsCommand } from '../../../../domain/administrators/decider.ts'
import type { AdministratorsEvent } from '../../../../domain/administrators/events.ts'
import { fold, type Stamped } from '../../../../domain/shared/decider.ts'
import { adminStatusAfter, NOT_REGISTERED } from '../../../../domain/user/admin-status.ts'
import { administers, userDecider, type UserState } from '../../../../domain/user/decider.ts'
import type { UserEvent } from '../../../../domain/user/events.ts'
import { after } from '../../../support/events/sample-events.ts'

const at = after(0)
const added = (userId: number, revision: number): AdministratorsEvent =>
  ({ type: 'AdministratorAdded', data: { userId, revision, at } })
const removed = (userId: number, revision: number): AdministratorsEvent =>
  ({ type: 'AdministratorRemoved', data: { userId, revision, at } })
const count = (userId: number, administering: boolean, revision: number): Stamped<AdministratorsCommand> =>
  ({ type: 'Report', userId, administers: administering, revision, at })
const leave = (userId: number, revision: number, remaining: number): Stamped<AdministratorsCommand> =>
  ({ type: 'Leave', userId, revision, remaining, at })

const decide = (before: ReadonlyArray<AdministratorsEvent>, command: Stamped<AdministratorsCommand>) =>
  administratorsDecider.decide(command, fold(administratorsDecider, before))

test('a new administrator is added once', (t) => {
  t.deepEqual(decide([], count(1, true, 0)), E.right([added(1, 0)]))
  t.deepEqual(decide([added(1, 0)], count(1, true, 0)), E.right([]))
  t.deepEqual(decide([added(1, 0)], count(1, true, 4)), E.right([]))
})

test('an administrator can leave while another one remains; the last administrator cannot', (t) => {
  t.deepEqual(decide([added(1, 0), added(2, 0)], leave(1, 3, 2)), E.right([removed(1, 3)]))
  t.deepEqual(
    decide([added(1, 0), added(2, 0), removed(2, 0)], leave(1, 3, 2)),
    E.left({ _tag: 'NoAdministratorRemains' }),
  )
  t.deepEqual(decide([added(1, 0)], leave(1, 3, 2)), E.left({ _tag: 'NoAdministratorRemains' }))
})

test('a removed administrator is added again only by a newer user event', (t) => {
  const departed = [added(1, 0), added(2, 0), removed(1, 3)]
  t.deepEqual(decide(departed, count(1, true, 0)), E.right([]))
  t.deepEqual(decide(departed, count(1, true, 3)), E.right([]))
  t.deepEqual(decide(departed, count(1, true, 5)), E.right([added(1, 5)]))
})

test('an outdated check does not remove an administrator who was added again later', (t) => {
  t.deepEqual(decide([added(1, 5)], count(1, false, 4)), E.right([]))
  t.deepEqual(decide([added(1, 5)], count(1, false, 6)), E.right([removed(1, 6)]))
  t.deepEqual(decide([], count(1, false, 6)), E.right([]))
  t.deepEqual(decide([added(2, 0), removed(1, 3)], leave(1, 3, 2)), E.right([]))
  t.deepEqual(
    decide([added(2, 0), added(1, 5)], leave(1, 3, 2)),
    E.right([removed(1, 5)]),
    'the check is older than the addition',
  )
})

const data = { userId: 1, at }
const registered = { ...data, username: 'u', usernameHash: 'h', passwordHash: 'p', maxSessions: 1, maxTranslations: 1 }
const userEvent: fc.Arbitrary<UserEvent> = fc.constantFrom<UserEvent>(
  { type: 'UserRegistered', data: { ...registered, permissions: [] } },
  { type: 'UserRegistered', data: { ...registered, permissions: ['admin'] } },
  { type: 'UserPermissionsChanged', data: { ...data, permissions: ['admin', 'user_retention'] } },
  { type: 'UserPermissionsChanged', data: { ...data, permissions: ['user_retention'] } },
  { type: 'UserDisabled', data },
  { type: 'UserEnabled', data },
  { type: 'PasswordChanged', data: { ...data, passwordHash: 'q', generation: 1 } },
  { type: 'UserLimitsChanged', data: { ...data, maxSessions: 2, maxTranslations: 2 } },
)

test('the administrator status without decryption equals the status in the full user state', (t) => {
  fc.assert(fc.property(fc.array(userEvent, { maxLength: 12 }), fc.boolean(), (changes, isDeleted) => {
    const changed = changes.filter(({ type }) => type !== 'UserRegistered')
    const [first] = changes.filter(({ type }) => type === 'UserRegistered')
    if (first === undefined) return
    const ends: ReadonlyArray<UserEvent> = isDeleted
      ? [{ type: 'UserDeleted', data: { ...data, usernameHash: 'h' } }]
      : []
    let status = NOT_REGISTERED
    let state: UserState = userDecider.initialState
    for (const [revision, event] of [first, ...changed, ...ends].entries()) {
      const before = status
      status = adminStatusAfter(before, event, revision)
      state = userDecider.evolve(state, event)
      t.is(status.since !== null, administers(state))
      if (status.since !== null) t.is(status.since, before.since ?? revision)
    }
  }))
})
