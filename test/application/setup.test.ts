import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { registerFirstAdmin } from '../../application/users/commands/register-first-admin.ts'
import type { RegisterUser } from '../../application/users/commands/register-user.ts'
import { openSetupLink } from '../../application/users/commands/set-up.ts'
import { createTestCredentials, createTestEnvironment } from '../support/test-environment.ts'
import { startUserWorld } from '../support/user-world.ts'

const refused = (reason: string) => E.left({ _tag: 'SetupRefused', reason })
const away = { _tag: 'StoreUnavailable' as const, reason: 'the test says so' }

const start = async (t: Parameters<typeof startUserWorld>[0], registration: { isAway: boolean } = { isAway: false }) => {
  const { users, directory, authentication } = await startUserWorld(t)
  const environment = createTestEnvironment()
  const hasUsers = () => directory.count() > 0
  const registerUser: RegisterUser = (...user) => (registration.isAway ? TE.left(away) : users.registerUser(...user))
  const setup = openSetupLink({ environment, credentials: createTestCredentials(), hasUsers, registerUser })
  return { setup, token: setup.token() ?? '', environment, hasUsers, registerUser, authentication }
}

test('B2: the token makes the first user an administrator who may do everything', async (t) => {
  const { setup, token } = await start(t)
  const made = await setup.setUp(token, 'root', 'password')()
  if (E.isLeft(made)) return t.fail(made.left._tag)
  t.like(made.right, { id: 1, username: 'root', permissions: ['admin', 'user_retention'], maxSessions: 10, maxTranslations: 5 })
})

test('a token works once', async (t) => {
  const { setup, token } = await start(t)
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')()))
  t.is(setup.token(), null)
  t.deepEqual(await setup.setUp(token, 'second', 'password')(), refused('used'))
})

test('of 20 redeems at the same time one wins', async (t) => {
  const { setup, token } = await start(t)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => setup.setUp(token, `root ${n}`, 'password')()))
  t.is(answers.filter(E.isRight).length, 1)
  t.is(answers.filter((answer) => E.isLeft(answer) && answer.left._tag === 'SetupRefused' && answer.left.reason === 'used').length, 19)
})

test('a wrong token is refused and changes nothing', async (t) => {
  const { setup, token } = await start(t)
  for (const wrong of ['', token.slice(1), `${token}x`]) t.deepEqual(await setup.setUp(wrong, 'root', 'password')(), refused('invalid'))
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')()))
})

test('a token lives for 30 minutes', async (t) => {
  const { setup, token, environment } = await start(t)
  environment.advance(30 * 60 * 1000 - 1)
  t.is(setup.token(), token)
  environment.advance(1)
  t.is(setup.token(), null)
  t.deepEqual(await setup.setUp(token, 'root', 'password')(), refused('expired'))
})

test('a registration that fails does not burn the token', async (t) => {
  const registration = { isAway: true }
  const { setup, token } = await start(t, registration)
  t.deepEqual(await setup.setUp(token, 'root', 'password')(), E.left(away))
  t.is(setup.token(), token)
  registration.isAway = false
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')()))
})

test('with a user there is no token to redeem', async (t) => {
  const { setup, token, registerUser } = await start(t)
  await registerUser({ username: 'first', password: 'password', permissions: [], maxSessions: 1, maxTranslations: 1 }, 'cli')()
  t.is(setup.token(), null)
  t.deepEqual(await setup.setUp(token, 'root', 'password')(), refused('used'))
})

test('the settings make the first administrator once', async (t) => {
  const { hasUsers, registerUser, authentication } = await start(t)
  const made = await registerFirstAdmin({ hasUsers, registerUser })('root', 'password')()
  t.like(made, { _tag: 'Right', right: { id: 1, permissions: ['admin', 'user_retention'] } })
  t.deepEqual(await registerFirstAdmin({ hasUsers, registerUser })('root', 'another')(), E.right(null))
  const late = { hasUsers: () => false, registerUser }
  t.deepEqual(await registerFirstAdmin(late)('root', 'another')(), E.right(null), 'another process was faster')
  t.is((await authentication.logIn('root', 'password', '192.0.2.1'))._tag, 'Right')
})
