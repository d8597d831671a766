import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createUsers } from '../../application/users/users.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import { ERASED } from '../../domain/shared/event.ts'
import { systemTimers } from '../../infrastructure/system-timers.ts'
import { right } from '../support/projecting.ts'
import { callerOf, startTokenWorld } from '../support/token-world.ts'
import { ada } from '../support/user-world.ts'

const everything = { skip: 0, limit: 100 }
const notFound = E.left({ _tag: 'ProfileNotFound' })
const lecture = { name: 'Lecture', settings: { ...DEFAULT_ENGINE_SETTINGS, mode: 'final' as const } }

const startWithUser = async (t: Parameters<typeof startTokenWorld>[0]) => {
  const world = await startTokenWorld(t)
  return { ...world, caller: callerOf(await world.register('Ada')) }
}

test('R106: a new user has one profile, Default, as soon as the registration is answered', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const page = right(await profiles.listProfiles(caller, everything)())
  t.is(page.total, 1)
  t.like(page.items[0], { name: 'Default', settings: DEFAULT_ENGINE_SETTINGS, updatedAt: null })
})

test('R106: a registration waits until the read model has the profile', async (t) => {
  const { store, keyring, environment, credentials, directory } = await startTokenWorld(t)
  const asked: Array<string> = []
  const projector = { whenProjected: async (position: string) => { asked.push(position) } }
  const users = createUsers({ store, keyring, environment, timers: systemTimers, credentials, directory, projector })
  const { id } = right(await users.registerUser(ada, 'setup')())
  const [added] = right(await store.read(`profiles-${id}`)())
  t.deepEqual(asked, [added?.position])
})

test('R15, R108, R109: what is answered is what is read next', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const made = right(await profiles.createProfile(caller, lecture)())
  t.like(made, { ...lecture, updatedAt: null })
  t.deepEqual(right(await profiles.getProfile(caller, made.id)()), made)
  const changed = right(await profiles.changeProfile(caller, made.id, { name: 'Talk', settings: { max_chars: 40 } })())
  t.deepEqual(changed, { ...made, name: 'Talk', settings: { ...lecture.settings, max_chars: 40 }, updatedAt: changed.updatedAt })
  t.not(changed.updatedAt, null)
  t.deepEqual(right(await profiles.getProfile(caller, made.id)()), changed)
  t.deepEqual(right(await profiles.changeProfile(caller, made.id, { settings: {} })()), changed)
  right(await profiles.removeProfile(caller, made.id)())
  t.deepEqual(await profiles.getProfile(caller, made.id)(), notFound)
  t.is(right(await profiles.listProfiles(caller, everything)()).total, 1)
})

test('R110: a change that would turn the buffers round is refused, named after what was sent', async (t) => {
  const { profiles, caller } = await startWithUser(t)
  const { id } = right(await profiles.createProfile(caller, lecture)())
  const refused = (member: string) => E.left({ _tag: 'BuffersNotOrdered', member })
  t.deepEqual(await profiles.changeProfile(caller, id, { settings: { min_buffer: 20 } })(), refused('min_buffer'))
  t.deepEqual(await profiles.changeProfile(caller, id, { settings: { max_buffer: 0.5 } })(), refused('max_buffer'))
  t.deepEqual(await profiles.changeProfile(caller, id, { settings: { min_buffer: 9, max_buffer: 8 } })(), refused('min_buffer'))
})

test('R36, R111, R115: profiles of another user are unknown, also to one who has a single one', async (t) => {
  const { profiles, caller, register } = await startWithUser(t)
  const { id } = right(await profiles.createProfile(caller, lecture)())
  const other = callerOf(await register('Bob'))
  t.deepEqual(await profiles.getProfile(other, id)(), notFound)
  t.deepEqual(await profiles.changeProfile(other, id, { settings: {} })(), notFound)
  t.deepEqual(await profiles.removeProfile(other, id)(), notFound)
  t.is(right(await profiles.listProfiles(caller, everything)()).total, 2)
})

test('R113: the last profile stays, also when 50 are removed at once', async (t) => {
  const { profiles, caller, logger } = await startWithUser(t)
  for (let n = 0; n < 49; n++) right(await profiles.createProfile(caller, lecture)())
  const ids = right(await profiles.listProfiles(caller, everything)()).items.map(({ id }) => id)
  t.is(ids.length, 50)
  const answers = await Promise.all(ids.map((id) => profiles.removeProfile(caller, id)()))
  t.is(answers.filter(E.isRight).length, 49)
  t.deepEqual(answers.filter(E.isLeft), [E.left({ _tag: 'LastProfile' as const })])
  t.is(right(await profiles.listProfiles(caller, everything)()).total, 1)
  t.deepEqual(logger.lines, [])
})

test('an erased name reads as such', async (t) => {
  const { profiles, caller, keyring } = await startWithUser(t)
  right(await keyring.erase([`user-${caller.userId}`])())
  t.deepEqual(right(await profiles.listProfiles(caller, everything)()).items.map(({ name }) => name), [ERASED])
})
