import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { registerFirstAdmin } from '../../../../application/users/commands/register-first-admin.ts'
import type { RegisterUser } from '../../../../application/users/commands/register-user.ts'
import { openSetupLink } from '../../../../application/users/commands/set-up.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { startUserWorld } from '../../../support/worlds/user-world.ts'

const refused = (reason: string) => E.left({ _tag: 'SetupRefused', reason })
const unavailable = { _tag: 'StoreUnavailable' as const, reason: 'simulated' }

const start = async (
  t: Parameters<typeof startUserWorld>[0],
  registration: { isUnavailable: boolean } = { isUnavailable: false },
) => {
  const { users, authentication } = await startUserWorld(t)
  let milliseconds = Date.UTC(2026, 10, 21)
  const clock = {
    now: () => new Date(milliseconds).toISOString(),
    advance: (by: number) => {
      milliseconds += by
    },
  }
  const { isSetUp } = users
  const registerUser: RegisterUser = async (...user) =>
    registration.isUnavailable ? E.left(unavailable) : users.registerUser(...user)
  const deps = { environment: clock, credentials: createTestCredentials(), isSetUp, registerUser }
  const setup = openSetupLink(deps)
  const issued = async () => right(await setup.token())
  const otherProcess = openSetupLink(deps)
  return { setup, issued, otherProcess, token: (await issued()) ?? '', clock, isSetUp, registerUser, authentication }
}

test('the token makes the first user an administrator with all permissions', async (t) => {
  const { setup, token } = await start(t)
  const registered = await setup.setUp(token, 'root', 'password')
  if (E.isLeft(registered)) return t.fail(registered.left._tag)
  t.like(registered.right, {
    id: 1,
    username: 'root',
    permissions: ['admin', 'user_retention'],
    maxSessions: 10,
    maxTranslations: 5,
  })
})

test('a token works once', async (t) => {
  const { setup, token, issued } = await start(t)
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')))
  t.is(await issued(), null)
  t.deepEqual(await setup.setUp(token, 'second', 'password'), refused('used'))
})

test('of 20 simultaneous uses one succeeds', async (t) => {
  const { setup, token } = await start(t)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => setup.setUp(token, `root ${n}`, 'password')))
  t.is(answers.filter(E.isRight).length, 1)
  t.is(
    answers.filter((answer) => E.isLeft(answer) && answer.left._tag === 'SetupRefused' && answer.left.reason === 'used')
      .length,
    19,
  )
})

test('a wrong token is refused and changes nothing', async (t) => {
  const { setup, token } = await start(t)
  const later = token.replace(/^\d+/, (expiresAt) => String(Number(expiresAt) + 1))
  for (const wrong of ['', '.', token.slice(1), `${token}x`, later, `0${token}`, ` ${token}`])
    t.deepEqual(await setup.setUp(wrong, 'root', 'password'), refused('invalid'))
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')))
})

test('a token is valid for 30 minutes', async (t) => {
  const { setup, token, clock } = await start(t)
  clock.advance(30 * 60 * 1000)
  t.deepEqual(await setup.setUp(token, 'root', 'password'), refused('expired'))
  clock.advance(-1)
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')))
})

test('any process of the installation accepts the token once, also after a restart', async (t) => {
  const { setup, otherProcess, token } = await start(t)
  t.true(E.isRight(await otherProcess.setUp(token, 'root', 'password')))
  t.deepEqual(await setup.setUp(token, 'second', 'password'), refused('used'))
})

test('a failed registration keeps the token valid', async (t) => {
  const registration = { isUnavailable: true }
  const { setup, token } = await start(t, registration)
  t.deepEqual(await setup.setUp(token, 'root', 'password'), E.left(unavailable))
  registration.isUnavailable = false
  t.true(E.isRight(await setup.setUp(token, 'root', 'password')))
})

test('once an administrator exists there is no set-up token', async (t) => {
  const { setup, token, issued, registerUser } = await start(t)
  const first = { username: 'first', password: 'password', maxSessions: 1, maxTranslations: 1 }
  await registerUser({ ...first, permissions: [] }, 'cli')
  t.not(await issued(), null, 'an administrator is still missing')
  await registerUser({ ...first, username: 'second', permissions: ['admin'] }, 'cli')
  t.is(await issued(), null)
  t.deepEqual(await setup.setUp(token, 'root', 'password'), refused('used'))
})

test('the settings create the first administrator once', async (t) => {
  const { isSetUp, registerUser, authentication } = await start(t)
  const registered = await registerFirstAdmin({ isSetUp, registerUser })('root', 'password')
  t.like(registered, { _tag: 'Right', right: { id: 1, permissions: ['admin', 'user_retention'] } })
  t.deepEqual(await registerFirstAdmin({ isSetUp, registerUser })('root', 'another'), E.right(null))
  const outdated = { isSetUp: async () => E.right(false), registerUser }
  t.deepEqual(
    await registerFirstAdmin(outdated)('root', 'another'),
    E.right(null),
    'another process created the administrator first',
  )
  t.is((await authentication.logIn('root', 'password', '192.0.2.1'))._tag, 'Right')
})
