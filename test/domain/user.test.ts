import test from 'ava'
import { fold } from '../../domain/shared/decider.ts'
import { userDecider } from '../../domain/user/decider.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import { specify } from '../support/specify.ts'
import { after } from './samples.ts'

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

test('a user is registered once', (t) => {
  const { given } = specify(t, userDecider)
  given().when({ type: 'Register', data: registered.data }).thenEvents(registered)
  given(registered).when({ type: 'Register', data: registered.data }).thenRefused({ _tag: 'AlreadyRegistered' })
  given(registered, disabled()).when({ type: 'Register', data: registered.data }).thenRefused({ _tag: 'AlreadyRegistered' })
})

test('each password change raises the generation by one, so that earlier JWTs end', (t) => {
  const { given } = specify(t, userDecider)
  given(registered).when({ type: 'ChangePassword', passwordHash: 'second', at }).thenEvents(passwordChanged('second', 1, at))
  given(registered, passwordChanged('second', 1))
    .when({ type: 'ChangePassword', passwordHash: 'third', at })
    .thenEvents(passwordChanged('third', 2, at))
})

test('a user is disabled and enabled; repeating either is nothing to do', (t) => {
  const { given } = specify(t, userDecider)
  given(registered).when({ type: 'Disable', at }).thenEvents(disabled(at))
  given(registered, disabled()).when({ type: 'Disable', at }).thenNothing()
  given(registered, disabled()).when({ type: 'Enable', at }).thenEvents(enabled(at))
  given(registered).when({ type: 'Enable', at }).thenNothing()
  given(registered, disabled(), enabled()).when({ type: 'Enable', at }).thenNothing()
})

test('nothing can be asked of a user who was never registered', (t) => {
  const { given } = specify(t, userDecider)
  given().when({ type: 'ChangePassword', passwordHash: 'x', at }).thenRefused({ _tag: 'UserUnknown' })
  given().when({ type: 'Disable', at }).thenRefused({ _tag: 'UserUnknown' })
  given().when({ type: 'Enable', at }).thenRefused({ _tag: 'UserUnknown' })
})

test('the state holds the user as changed since', (t) => {
  const { at: createdAt, ...facts } = registered.data
  t.deepEqual(fold(userDecider, [registered]), { ...facts, status: 'active', generation: 0, createdAt, updatedAt: null })
  t.deepEqual(fold(userDecider, [registered, passwordChanged('second', 1), disabled(at)]), {
    ...facts, passwordHash: 'second', status: 'disabled', generation: 1, createdAt, updatedAt: at,
  })
})
