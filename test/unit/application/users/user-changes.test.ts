import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../../../application/caller.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { ada, startUserWorld } from '../../../support/worlds/user-world.ts'

const ADDRESS = '192.0.2.1'
const callerOf = (userId: number, credential: Caller['credential'] = 'jwt'): Caller => ({
  userId, permissions: ['admin'], maxSessions: 10, maxTranslations: 5, credential,
})

const startWithAda = async (t: Parameters<typeof startUserWorld>[0]) => {
  const store = createMemoryEventStore()
  const world = await startUserWorld(t, { store })
  const user = right(await world.users.registerUser(ada, 'setup'))
  const logIn = (password: string) => world.authentication.logIn('Ada', password, ADDRESS)
  return { ...world, store, user, logIn }
}

test('a change by an administrator is visible to the user, in the list and in the answer', async (t) => {
  const { changes, users, user } = await startWithAda(t)
  const request = { maxSessions: 2, permissions: ['admin' as const], isActive: false }
  const changed = right(await changes.changeUser(callerOf(9), user.id, request))
  t.like(changed, {
    id: user.id,
    username: 'Ada',
    maxSessions: 2,
    maxTranslations: 5,
    permissions: ['admin'],
    isActive: false,
  })
  t.true((changed.updatedAt ?? '') > changed.createdAt)
  t.deepEqual(right(await changes.whoAmI(callerOf(user.id))), changed)
  t.deepEqual(right(await users.listUsers({ skip: 0, limit: 10 })).items, [changed])
})

test('the events of a change name the user or the operator who made it', async (t) => {
  const { changes, store, user } = await startWithAda(t)
  right(await changes.changeUser(callerOf(9), user.id, { maxSessions: 2 }))
  right(await changes.changeUser(callerOf(0, 'operator'), user.id, { maxSessions: 3 }))
  const actors = right(await store.read(`user-${user.id}`)).map(({ type, metadata }) => [type, metadata.actor])
  t.deepEqual(actors, [['UserRegistered', 'setup'], ['UserLimitsChanged', 'user:9'], ['UserLimitsChanged', 'operator']])
})

test('an unknown user cannot be changed', async (t) => {
  const { changes, user } = await startWithAda(t)
  const notFound = E.left({ _tag: 'UserNotFound' })
  t.deepEqual(await changes.changeUser(callerOf(user.id), 4711, { maxSessions: 1 }), notFound)
  t.deepEqual(await changes.whoAmI(callerOf(4711)), notFound)
})

test('a password set by an administrator ends the tokens of the old one', async (t) => {
  const { changes, authentication, user, logIn } = await startWithAda(t)
  const token = right(await logIn(ada.password))
  right(await changes.changeUser(callerOf(9), user.id, { password: 'given by an admin' }))
  t.deepEqual(await authentication.authenticate(token), E.right(O.none))
  t.deepEqual(await logIn(ada.password), E.left({ _tag: 'WrongLogin' }))
  t.true(E.isRight(await logIn('given by an admin')))
})

test('users who know their password can change it, and their tokens end', async (t) => {
  const { changes, authentication, user, logIn } = await startWithAda(t)
  const token = right(await logIn(ada.password))
  const change = (current: string) => changes.changeOwnPassword(callerOf(user.id), current, 'a second one', ADDRESS)
  t.deepEqual(await change('a guess'), E.left({ _tag: 'WrongPassword' }))
  t.true(O.isSome(right(await authentication.authenticate(token))))
  t.true(E.isRight(await change(ada.password)))
  t.deepEqual(await authentication.authenticate(token), E.right(O.none))
  t.true(E.isRight(await logIn('a second one')))
  t.deepEqual(await change(ada.password), E.left({ _tag: 'WrongPassword' }), 'the old password is no longer valid')
})
