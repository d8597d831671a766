import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore } from '../../../../application/ports/event-store.ts'
import { FIRST_PROFILE_NAME } from '../../../../domain/profiles/first-profile.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { ada, startUserWorld } from '../../../support/worlds/user-world.ts'
import { sealedIn } from '../../../support/events/stored-data.ts'

const taken = E.left({ _tag: 'UsernameTaken' })
const unavailable = { _tag: 'StoreUnavailable' as const, reason: 'simulated' }

const eventTypes = (store: ReturnType<typeof createMemoryEventStore>): ReadonlyArray<string> =>
  store.allEvents().map(({ type }) => type)

test('a registered user can log in and is listed as in the answer', async (t) => {
  const { users, authentication } = await startUserWorld(t)
  const user = right(await users.registerUser({ ...ada, permissions: ['user_retention'] }, 'user:1'))
  t.like(user, {
    id: 1,
    username: 'Ada',
    permissions: ['user_retention'],
    maxSessions: 10,
    maxTranslations: 5,
    isActive: true,
  })
  t.is(user.updatedAt, null)
  t.true(E.isRight(await authentication.logIn('Ada', ada.password, '192.0.2.1')))
  t.deepEqual(right(await users.listUsers({ skip: 0, limit: 10 })), { items: [user], total: 1 })
})

test('a user begins with one profile named Default', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const { users } = await startUserWorld(t, { store, keyring })
  const { id } = right(await users.registerUser(ada, 'setup'))
  const profiles = right(await store.read(`profiles-${id}`))
  t.deepEqual(profiles.map(({ type }) => type), ['ProfileAdded'])
  t.deepEqual(right(await keyring.open(profiles.flatMap(sealedIn))), [E.right(FIRST_PROFILE_NAME)])
})

test('the log does not contain the name or the password', async (t) => {
  const store = createMemoryEventStore()
  const { users } = await startUserWorld(t, { store })
  right(await users.registerUser({ ...ada, username: 'Grace Hopper' }, 'setup'))
  const log = JSON.stringify(store.allEvents())
  t.false(log.includes('Grace'))
  t.false(log.includes(ada.password))
})

test('users are numbered from 1, each once', async (t) => {
  const { users } = await startUserWorld(t)
  const names = Array.from({ length: 12 }, (_, n) => `user ${n}`)
  const registered = await Promise.all(names.map((username) => users.registerUser({ ...ada, username }, 'setup')))
  t.deepEqual(registered.map((user) => right(user).id).toSorted((a, b) => a - b), names.map((_, n) => n + 1))
})

test('names differ by case, but not by the encoding of their accents', async (t) => {
  const { users } = await startUserWorld(t)
  right(await users.registerUser({ ...ada, username: 'Zoë' }, 'setup'))
  t.deepEqual(await users.registerUser({ ...ada, username: 'Zoe\u0308' }, 'setup'), taken)
  t.true(E.isRight(await users.registerUser({ ...ada, username: 'zoë' }, 'setup')))
})

test('of 20 simultaneous registrations of one name exactly one succeeds', async (t) => {
  const store = createMemoryEventStore()
  const { users } = await startUserWorld(t, { store })
  const answers = await Promise.all(Array.from({ length: 20 }, () => users.registerUser(ada, 'setup')))
  t.is(answers.filter(E.isRight).length, 1)
  t.is(answers.filter((answer) => E.isLeft(answer) && answer.left._tag === 'UsernameTaken').length, 19)
  t.is(eventTypes(store).filter((type) => type === 'UserRegistered').length, 1)
  t.is(eventTypes(store).filter((type) => type === 'ProfileAdded').length, 1)
})

test('of 20 simultaneous continuations of an unfinished registration exactly one succeeds', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const first = await startUserWorld(t, { store: cutOff(store, 3, false), keyring })
  t.true(E.isLeft(await first.users.registerUser(ada, 'setup')))
  const { users } = await startUserWorld(t, { store, keyring })
  const answers = await Promise.all(Array.from({ length: 20 }, () => users.registerUser(ada, 'setup')))
  t.is(answers.filter(E.isRight).length, 1)
  t.is(eventTypes(store).filter((type) => type === 'UserRegistered').length, 1)
  t.is(eventTypes(store).filter((type) => type === 'ProfileAdded').length, 1)
})

type World = Awaited<ReturnType<typeof startUserWorld>>

/** Runs the duty over all registrations from the beginning. */
const completeUsers = async (
  { users, documents }: World,
  store: ReturnType<typeof createMemoryEventStore>,
): Promise<void> => {
  const checkpoint = { projection: 'complete-users', collection: null }
  right(await documents.discard(checkpoint))
  const last = store.allEvents().findLast(({ type }) => type === 'UserRegistered')?.position ?? BEGINNING
  const duty = users.completeUsers()
  await eventually(async () => {
    assert.equal(right(await documents.checkpoint(checkpoint)).position, last)
  })
  await duty.stop()
}

/** A store that answers nothing from the nth append on. `isWritten`: the nth append still happens. */
const cutOff = (inner: EventStore, nth: number, isWritten: boolean): EventStore => {
  let appends = 0
  return {
    ...inner,
    append: async (...append) => {
      appends += 1
      if (appends < nth) return await inner.append(...append)
      if (appends === nth && isWritten) await inner.append(...append)
      return E.left(unavailable)
    },
    read: async (...read) => (appends < nth ? inner.read(...read) : E.left(unavailable)),
  }
}

const STEPS = ['the id', 'the claim of the name', 'the user', 'the id of the profile', 'the profile']

for (const [index, step] of STEPS.entries()) {
  for (const isWritten of [false, true]) {
    const where = `${step}, ${isWritten ? 'written but not answered' : 'not written'}`
    test(`a registration interrupted at ${where}, is completed by the next registration or process`, async (t) => {
      const store = createMemoryEventStore()
      const keyring = createMemoryKeyring()
      const first = await startUserWorld(t, { store: cutOff(store, index + 1, isWritten), keyring })
      const answer = await first.users.registerUser(ada, 'setup')
      t.deepEqual(answer, E.left(unavailable))
      await first.stop()

      const second = await startUserWorld(t, { store, keyring })
      const retried = await second.users.registerUser(ada, 'setup')
      const isRegistered = index > 2 || (index === 2 && isWritten)
      if (isRegistered) t.deepEqual(retried, taken)
      else t.true(E.isRight(retried))
      // The second run must change nothing.
      for (const _ of [1, 2]) await completeUsers(second, store)

      t.is(eventTypes(store).filter((type) => type === 'UsernameClaimed').length, 1)
      t.is(eventTypes(store).filter((type) => type === 'UserRegistered').length, 1)
      t.is(eventTypes(store).filter((type) => type === 'ProfileAdded').length, 1)
      t.true(E.isRight(await second.authentication.logIn('Ada', ada.password, '192.0.2.1')))
    })
  }
}

test('two processes that start together add one first profile', async (t) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const first = await startUserWorld(t, { store: cutOff(store, 4, false), keyring })
  t.true(E.isLeft(await first.users.registerUser(ada, 'setup')))
  const worlds = [await startUserWorld(t, { store, keyring }), await startUserWorld(t, { store, keyring })]
  await Promise.all(worlds.map((world) => completeUsers(world, store)))
  t.is(eventTypes(store).filter((type) => type === 'ProfileAdded').length, 1)
})

test('only the newest event of a sequence is kept', async (t) => {
  const store = createMemoryEventStore()
  const { users } = await startUserWorld(t, { store })
  for (const username of ['a', 'b', 'c']) right(await users.registerUser({ ...ada, username }, 'setup'))
  t.deepEqual(right(await store.read('seq-user')).map(({ revision }) => revision), [2])
})

test('users are listed by id, with the true total on every page', async (t) => {
  const { users } = await startUserWorld(t)
  for (let n = 1; n <= 12; n++) right(await users.registerUser({ ...ada, username: `user ${n}` }, 'setup'))
  const page = async (skip: number, limit: number) => {
    const { items, total } = right(await users.listUsers({ skip, limit }))
    return { ids: items.map(({ id }) => id), total }
  }
  t.deepEqual(await page(0, 5), { ids: [1, 2, 3, 4, 5], total: 12 })
  t.deepEqual(await page(10, 5), { ids: [11, 12], total: 12 })
  t.deepEqual(await page(12, 5), { ids: [], total: 12 })
})
