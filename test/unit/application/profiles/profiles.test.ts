import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import type { Projector } from '../../../../application/ports/projector.ts'
import { registerUser } from '../../../../application/users/commands/register-user.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../domain/live/settings.ts'
import { ERASED } from '../../../../domain/shared/event.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { callerOf, profileCommands, startTokenWorld } from '../../../support/worlds/token-world.ts'
import { createStreamStates } from '../../../support/worlds/stream-states.ts'
import { ada } from '../../../support/worlds/user-world.ts'

const everything = { skip: 0, limit: 100 }
const notFound = E.left({ _tag: 'ProfileNotFound' })
const lecture = { name: 'Lecture', settings: { ...DEFAULT_ENGINE_SETTINGS, mode: 'final' as const } }

const startWithUser = async (...args: Parameters<typeof startTokenWorld>) => {
  const world = await startTokenWorld(...args)
  return { ...world, caller: callerOf(await world.register('Ada')) }
}

test('a new user has one profile, Default, when the registration is answered', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const page = right(await profiles.listProfiles(caller.userId, everything))
  t.is(page.total, 1)
  t.like(page.items[0], { name: 'Default', settings: DEFAULT_ENGINE_SETTINGS, updatedAt: null })
})

test('a registration waits until the read model has the profile', async (t) => {
  const { write, store, credentials, administrators, directory } = await startTokenWorld(t)
  const awaited: Array<unknown> = []
  const projector: Pick<Projector, 'whenProjected'> =
    { whenProjected: async (...asked) => { awaited.push(asked) } }
  const register = registerUser({ ...write, credentials, administrators, directory, projector })
  const { id } = right(await register(ada, 'setup'))
  const [added] = right(await store.read(`profiles-${id}`))
  t.deepEqual(awaited, [[['users', 'user-totals-2', 'profiles'], added?.position]])
})

test('the answer to a change of a profile equals the next read', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const created = right(await profiles.createProfile(caller, lecture))
  t.like(created, { ...lecture, updatedAt: null })
  t.deepEqual(right(await profiles.getProfile(caller.userId, created.id)), O.some(created))
  const changed = right(await profiles.changeProfile(caller, created.id, { name: 'Talk', settings: { max_chars: 40 } }))
  t.deepEqual(changed, {
    ...created,
    name: 'Talk',
    settings: { ...lecture.settings, max_chars: 40 },
    updatedAt: changed.updatedAt,
  })
  t.not(changed.updatedAt, null)
  t.deepEqual(right(await profiles.getProfile(caller.userId, created.id)), O.some(changed))
  t.deepEqual(right(await profiles.changeProfile(caller, created.id, { settings: {} })), changed)
  right(await profiles.removeProfile(caller, created.id))
  t.deepEqual(await profiles.getProfile(caller.userId, created.id), E.right(O.none))
  t.is(right(await profiles.listProfiles(caller.userId, everything)).total, 1)
})

test('a change to min_buffer above max_buffer is refused, and the refusal names the sent setting', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const { id } = right(await profiles.createProfile(caller, lecture))
  const refused = (member: string) => E.left({ _tag: 'BuffersNotOrdered', member })
  t.deepEqual(await profiles.changeProfile(caller, id, { settings: { min_buffer: 20 } }), refused('min_buffer'))
  t.deepEqual(await profiles.changeProfile(caller, id, { settings: { max_buffer: 0.5 } }), refused('max_buffer'))
  t.deepEqual(
    await profiles.changeProfile(caller, id, { settings: { min_buffer: 9, max_buffer: 8 } }),
    refused('min_buffer'),
  )
})

test('profiles of another user are unknown, also to a user with a single profile', async (t) => {
  const { profiles, caller, register } = await startWithUser(t)
  const { id } = right(await profiles.createProfile(caller, lecture))
  const bob = callerOf(await register('Bob'))
  t.deepEqual(await profiles.getProfile(bob.userId, id), E.right(O.none))
  t.deepEqual(await profiles.changeProfile(bob, id, { settings: {} }), notFound)
  t.deepEqual(await profiles.removeProfile(bob, id), notFound)
  t.is(right(await profiles.listProfiles(caller.userId, everything)).total, 2)
})

test('the last profile stays, even when 50 are removed at once', async (t) => {
  const { profiles, caller, logger } = await startWithUser(t)
  for (let n = 0; n < 49; n++) right(await profiles.createProfile(caller, lecture))
  const ids = right(await profiles.listProfiles(caller.userId, everything)).items.map(({ id }) => id)
  t.is(ids.length, 50)
  const answers = await Promise.all(ids.map((id) => profiles.removeProfile(caller, id)))
  t.is(answers.filter(E.isRight).length, 49)
  t.deepEqual(answers.filter(E.isLeft), [E.left({ _tag: 'LastProfile' as const })])
  t.is(right(await profiles.listProfiles(caller.userId, everything)).total, 1)
  t.deepEqual(logger.lines, [])
})

test('an erased name reads as erased', async (t) => {
  const { profiles, caller, keyring } = await startWithUser(t)
  right(await keyring.erase([`user-${caller.userId}`]))
  t.deepEqual(right(await profiles.listProfiles(caller.userId, everything)).items.map(({ name }) => name), [ERASED])
})

test('a user has at most a hundred profiles, for any number of simultaneous creates', async (t) => {
  const { profiles, caller, register } = await startWithUser(t)
  const answers = await Promise.all(Array.from({ length: 130 }, () => profiles.createProfile(caller, lecture)))
  t.is(answers.filter(E.isRight).length, 99, 'the profile Default counts too')
  for (const refused of answers.filter(E.isLeft)) t.deepEqual(refused.left, { _tag: 'TooManyProfiles', maximum: 100 })
  t.is(right(await profiles.listProfiles(caller.userId, everything)).total, 100)
  t.true(E.isRight(await profiles.createProfile(callerOf(await register('Bob')), lecture)))
  const [first] = right(await profiles.listProfiles(caller.userId, everything)).items
  right(await profiles.removeProfile(caller, first?.id ?? 0))
  t.true(E.isRight(await profiles.createProfile(caller, lecture)))
  t.true(E.isLeft(await profiles.createProfile(caller, lecture)))
})

test('a change reads only the events since the last change and sees the changes of other writers', async (t) => {
  const memory = createMemoryEventStore()
  let readEvents = 0
  const store: EventStore = {
    ...memory,
    read: async (stream, options) => {
      const found = await memory.read(stream, options)
      if (stream.startsWith('profiles-') && E.isRight(found)) readEvents += found.right.length
      return found
    },
  }
  const { profiles, caller, keyring, environment, projector } = await startWithUser(t, { store })
  const { id } = right(await profiles.createProfile(caller, lecture))
  const rename = (process: ReturnType<typeof profileCommands>, name: string) =>
    process.changeProfile(caller, id, { name, settings: {} })
  readEvents = 0
  for (let count = 0; count < 50; count += 1) right(await rename(profiles, `name ${count}`))
  t.true(readEvents < 50, `${readEvents} events`)

  const otherProcess = profileCommands({ store, keyring, environment, timers: systemTimers, projector })
  right(await rename(otherProcess, 'by another process'))
  const renamed = right(await profiles.changeProfile(caller, id, { settings: { max_chars: 33 } }))
  t.like(renamed, { name: 'by another process', settings: { ...lecture.settings, max_chars: 33 } })
  right(await otherProcess.removeProfile(caller, id))
  t.deepEqual(await rename(profiles, 'gone'), notFound)
})

test('the cached history is dropped when the log has fewer events', async (t) => {
  const { store: whole, keyring, environment, caller } = await startWithUser(t)
  const older = createMemoryEventStore()
  let current: EventStore = whole
  const store: EventStore = {
    ...whole,
    read: (...args) => current.read(...args),
    append: (...args) => current.append(...args),
  }
  const profiles = profileCommands({
    store,
    keyring,
    environment,
    timers: systemTimers,
    states: createStreamStates({ store, keyring, environment, timers: systemTimers }),
    projector: { whenProjected: () => Promise.resolve() },
  })
  const { id } = right(await profiles.createProfile(caller, lecture))
  const stream = `profiles-${caller.userId}`
  const events = right(await whole.read(stream)).map((event) => ({ ...event, data: dataOf(event) }))
  right(await older.append(stream, 'no-stream', events))
  right(await profiles.changeProfile(caller, id, { name: 'never happened', settings: {} }))
  current = older
  const changed = right(await profiles.changeProfile(caller, id, { settings: { max_chars: 33 } }))
  t.like(changed, { name: lecture.name, settings: { ...lecture.settings, max_chars: 33 } })
})

test('a change does not lose a name whose key was missing and returned', async (t) => {
  const world = await startTokenWorld(t)
  const caller = callerOf(await world.register('Ada'))
  const { keyring } = world
  const [kept, gone] = [
    right(await world.profiles.createProfile(caller, lecture)),
    right(await world.profiles.createProfile(caller, lecture)),
  ]
  let isMissing = true
  const open: typeof keyring.open = (sealed) =>
    isMissing ? (async () =>
      E.right(sealed.map(({ key }) => E.left({ _tag: 'KeyMissing', key }))))() : keyring.open(sealed)
  const { store, environment, projector } = world
  const deps = { store, keyring: { ...keyring, open }, environment, timers: systemTimers, projector }
  const { removeProfile, changeProfile } = profileCommands(deps)
  right(await removeProfile(caller, gone.id))
  isMissing = false
  t.is(right(await changeProfile(caller, kept.id, { settings: { max_chars: 41 } })).name, lecture.name)
  t.is(O.toNullable(right(await world.profiles.getProfile(caller.userId, kept.id)))?.name, lecture.name)
})
