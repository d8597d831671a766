import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { fold } from '../../../../domain/shared/decider.ts'
import { isUser, userDecider, type UserChanges } from '../../../../domain/user/decider.ts'
import type { UserEvent } from '../../../../domain/user/events.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const at = after(9000)
const earlier = after(1000)
const registered = {
  type: 'UserRegistered',
  data: {
    userId: 3,
    username: 'ada',
    usernameHash: 'hash of ada',
    passwordHash: 'first',
    permissions: ['user_retention'],
    maxSessions: 10,
    maxTranslations: 5,
    at: after(0),
  },
} satisfies UserEvent
const passwordChanged = (passwordHash: string, generation: number, when = earlier): UserEvent => ({
  type: 'PasswordChanged', data: { userId: 3, passwordHash, generation, at: when },
})
const disabled = (when = earlier): UserEvent => ({ type: 'UserDisabled', data: { userId: 3, at: when } })
const enabled = (when = earlier): UserEvent => ({ type: 'UserEnabled', data: { userId: 3, at: when } })
const loginsEnded = (generation: number): UserEvent => ({ type: 'LoginsEnded', data: { userId: 3, generation, at } })

const register = { type: 'Register', data: registered.data, at: registered.data.at } as const

test('a user is registered once', (t) => {
  const { given } = specify(t, userDecider)
  given().when(register).thenEvents(registered)
  given(registered).when(register).thenRefused({ _tag: 'AlreadyRegistered' })
  given(registered, disabled())
    .when(register)
    .thenRefused({ _tag: 'AlreadyRegistered' })
})

test('each password change raises the generation by one, so earlier JWTs end', (t) => {
  const { given } = specify(t, userDecider)
  given(registered)
    .when({ type: 'ChangePassword', passwordHash: 'second', at })
    .thenEvents(passwordChanged('second', 1, at))
  given(registered, passwordChanged('second', 1))
    .when({ type: 'ChangePassword', passwordHash: 'third', at })
    .thenEvents(passwordChanged('third', 2, at))
})

test('a user can change the password only while the verified password is the current one', (t) => {
  const { given } = specify(t, userDecider)
  const change = { type: 'ChangePassword', passwordHash: 'third', generation: 0, at } as const
  given(registered).when(change).thenEvents(passwordChanged('third', 1, at))
  given(registered, passwordChanged('second', 1)).when(change).thenRefused({ _tag: 'PasswordOutdated' })
})

test('a log-out everywhere raises the generation and keeps the password', (t) => {
  const { given } = specify(t, userDecider)
  given(registered).when({ type: 'EndLogins', at }).thenEvents(loginsEnded(1))
  given(registered, passwordChanged('second', 1), loginsEnded(2))
    .when({ type: 'EndLogins', at })
    .thenEvents(loginsEnded(3))
  given(registered, loginsEnded(1)).when({ type: 'ChangePassword', passwordHash: 'second', generation: 1, at })
    .thenEvents(passwordChanged('second', 2, at))
  given(registered, loginsEnded(1)).when({ type: 'Rehash', oldHash: 'first', passwordHash: 'stronger hash', at })
    .thenEvents({ type: 'PasswordRehashed', data: { userId: 3, passwordHash: 'stronger hash', at } })
  given().when({ type: 'EndLogins', at }).thenRefused({ _tag: 'UserUnknown' })
})

test('rehashing replaces the hash only while the old hash is current, and keeps the generation', (t) => {
  const { given } = specify(t, userDecider)
  const rehash = { type: 'Rehash', oldHash: 'first', passwordHash: 'stronger hash of first', at } as const
  const rehashed: UserEvent = {
    type: 'PasswordRehashed',
    data: { userId: 3, passwordHash: 'stronger hash of first', at },
  }
  given(registered).when(rehash).thenEvents(rehashed)
  given(registered, rehashed).when(rehash).thenNothing()
  given(registered, passwordChanged('second', 1)).when(rehash).thenNothing()
  given(registered, rehashed)
    .when({ type: 'ChangePassword', passwordHash: 'second', generation: 0, at })
    .thenEvents(passwordChanged('second', 1, at))
  given().when(rehash).thenRefused({ _tag: 'UserUnknown' })
})

test('an administrator can change several values in one decision', (t) => {
  const { given } = specify(t, userDecider)
  const limits: UserEvent = { type: 'UserLimitsChanged', data: { userId: 3, maxSessions: 2, maxTranslations: 5, at } }
  const permissions: UserEvent = { type: 'UserPermissionsChanged', data: { userId: 3, permissions: ['admin'], at } }
  given(registered).when({ type: 'Change', changes: { maxSessions: 2 }, at }).thenEvents(limits)
  given(registered).when({ type: 'Change', changes: { permissions: ['admin', 'admin'] }, at }).thenEvents(permissions)
  given(registered)
    .when({
      type: 'Change',
      changes: { maxSessions: 2, permissions: ['admin'], passwordHash: 'second', isActive: false },
      at,
    })
    .thenEvents(limits, permissions, passwordChanged('second', 1, at), disabled(at))
})

test('equal values are no change, but setting the same password again is a change', (t) => {
  const { given } = specify(t, userDecider)
  given(registered).when({ type: 'Change', changes: {}, at }).thenNothing()
  given(registered)
    .when({
      type: 'Change',
      changes: { maxSessions: 10, maxTranslations: 5, permissions: ['user_retention'], isActive: true },
      at,
    })
    .thenNothing()
  given(registered)
    .when({ type: 'Change', changes: { passwordHash: 'first' }, at })
    .thenEvents(passwordChanged('first', 1, at))
})

test('a user is disabled and enabled; a repeat does nothing', (t) => {
  const { given } = specify(t, userDecider)
  given(registered).when({ type: 'Change', changes: { isActive: false }, at }).thenEvents(disabled(at))
  given(registered, disabled()).when({ type: 'Change', changes: { isActive: false }, at }).thenNothing()
  given(registered, disabled()).when({ type: 'Change', changes: { isActive: true }, at })
    .thenEvents(loginsEnded(1), enabled(at))
  given(registered).when({ type: 'Change', changes: { isActive: true }, at }).thenNothing()
  given(registered, disabled(), enabled()).when({ type: 'Change', changes: { isActive: true }, at }).thenNothing()
})

test('a user who is enabled again has no earlier login; a new password in the same change is enough', (t) => {
  const { given } = specify(t, userDecider)
  given(registered, passwordChanged('second', 1), disabled())
    .when({ type: 'Change', changes: { isActive: true, maxSessions: 10 }, at })
    .thenEvents(loginsEnded(2), enabled(at))
  given(registered, disabled())
    .when({ type: 'Change', changes: { isActive: true, passwordHash: 'second' }, at })
    .thenEvents(passwordChanged('second', 1, at), enabled(at))
})

test('commands on an unregistered user are refused', (t) => {
  const { given } = specify(t, userDecider)
  given().when({ type: 'ChangePassword', passwordHash: 'x', at }).thenRefused({ _tag: 'UserUnknown' })
  given().when({ type: 'Change', changes: { isActive: false }, at }).thenRefused({ _tag: 'UserUnknown' })
  given().when({ type: 'Change', changes: { isActive: true }, at }).thenRefused({ _tag: 'UserUnknown' })
})

test('the state holds the user with all changes', (t) => {
  const { at: createdAt, ...facts } = registered.data
  t.deepEqual(fold(userDecider, [registered]), {
    ...facts,
    status: 'active',
    generation: 0,
    createdAt,
    updatedAt: null,
    revision: 0,
    administersSince: null,
  })
  t.deepEqual(fold(userDecider, [registered, passwordChanged('second', 1), disabled(at)]), {
    ...facts, passwordHash: 'second', status: 'disabled', generation: 1, createdAt, updatedAt: at,
    revision: 2, administersSince: null,
  })
  const rehashed: UserEvent = { type: 'PasswordRehashed', data: { userId: 3, passwordHash: 'stronger hash', at } }
  t.deepEqual(fold(userDecider, [registered, rehashed]), {
    ...facts, passwordHash: 'stronger hash', status: 'active', generation: 0, createdAt, updatedAt: null,
    revision: 1, administersSince: null,
  })
  const limits: UserEvent = {
    type: 'UserLimitsChanged',
    data: { userId: 3, maxSessions: 0, maxTranslations: 1, at: earlier },
  }
  const permissions: UserEvent = { type: 'UserPermissionsChanged', data: { userId: 3, permissions: [], at } }
  t.deepEqual(fold(userDecider, [registered, limits, permissions]), {
    ...facts,
    maxSessions: 0,
    maxTranslations: 1,
    permissions: [],
    status: 'active',
    generation: 0,
    createdAt,
    updatedAt: at,
    revision: 2,
    administersSince: null,
  })
})

test('the state knows the event that made the user an active administrator', (t) => {
  const permitted = (...permissions: ReadonlyArray<'admin' | 'user_retention'>): UserEvent =>
    ({ type: 'UserPermissionsChanged', data: { userId: 3, permissions, at } })
  const enabled: UserEvent = { type: 'UserEnabled', data: { userId: 3, at } }
  const since = (...events: ReadonlyArray<UserEvent>) => {
    const state = fold(userDecider, [registered, ...events])
    return isUser(state) ? state.administersSince : undefined
  }
  t.is(since(permitted('admin')), 1)
  t.is(since(permitted('admin'), permitted('admin', 'user_retention'), passwordChanged('second', 1)), 1)
  t.is(since(permitted('admin'), disabled(at)), null)
  t.is(since(permitted('admin'), disabled(at), passwordChanged('second', 1), enabled), 4)
  t.is(since(permitted('admin'), permitted()), null)
})

test('the only administrator cannot be demoted, disabled or deleted; any other user can', (t) => {
  const { given } = specify(t, userDecider)
  const administrator: UserEvent = {
    type: 'UserPermissionsChanged',
    data: { userId: 3, permissions: ['admin'], at: earlier },
  }
  const lastOne = { nobodyElseAdministers: true, at } as const
  const removals = [
    { type: 'Change', changes: { permissions: [] }, ...lastOne },
    { type: 'Change', changes: { permissions: ['user_retention'], maxSessions: 2 }, ...lastOne },
    { type: 'Change', changes: { isActive: false }, ...lastOne },
    { type: 'Change', changes: { permissions: ['admin'], isActive: false }, ...lastOne },
    { type: 'Delete', ...lastOne },
  ] as const
  for (const command of removals) {
    given(registered, administrator).when(command).thenRefused({ _tag: 'LastAdministrator' })
    t.true(
      E.isRight(userDecider.decide(command, fold(userDecider, [registered]))),
      'a user who never was an administrator',
    )
    t.true(
      E.isRight(
        userDecider.decide(
          { ...command, nobodyElseAdministers: false },
          fold(userDecider, [registered, administrator]),
        ),
      ),
    )
    t.true(
      E.isRight(userDecider.decide(command, fold(userDecider, [registered, administrator, disabled()]))),
      'a disabled administrator',
    )
  }
  const change = (changes: UserChanges) =>
    given(registered, administrator).when({ type: 'Change', changes, ...lastOne })
  change({ permissions: ['admin'], isActive: true }).thenNothing()
  change({ permissions: ['admin', 'user_retention'] }).thenEvents({
    type: 'UserPermissionsChanged',
    data: { userId: 3, permissions: ['admin', 'user_retention'], at },
  })
})
