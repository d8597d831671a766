import test from 'ava'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import * as O from 'fp-ts/lib/Option.js'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { originOf } from '../../../../application/log/origin.ts'
import { handleCommand } from '../../../../application/log/handle-command.ts'
import { createAdministrators } from '../../../../application/users/administrators.ts'
import { deleteUser } from '../../../../application/users/commands/delete-user.ts'
import type { DeleteUserDeps } from '../../../../application/users/commands/delete-user.ts'
import { eraseUsers } from '../../../../application/users/policies/erase-users.ts'
import { startUserDirectory } from '../../../../application/users/policies/user-directory.ts'
import { registerUser } from '../../../../application/users/commands/register-user.ts'
import { apiTokenDecider } from '../../../../domain/api-token/decider.ts'
import { API_TOKENS } from '../../../../projections/api-tokens/document.ts'
import { tokenIdsOf } from '../../../../projections/api-tokens/queries.ts'
import { LIVES } from '../../../../projections/lives/document.ts'
import { liveIdsOf } from '../../../../projections/lives/queries.ts'
import { PROFILES } from '../../../../projections/profiles/document.ts'
import { USERS } from '../../../../projections/users/document.ts'
import { createDyingProcess } from '../../../support/doubles/dying-process.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { ada } from '../../../support/worlds/user-world.ts'
import { callerOf, createWriteSide, requestOf } from '../write-side.ts'
import { dataOf, sealedIn } from '../../../support/events/stored-data.ts'

const admin = callerOf(1, { permissions: ['admin'] })
const PERSONAL = [USERS, PROFILES, LIVES, API_TOKENS]

/** Root (1) administers; Ada (2) has an API token, a live that runs, with text, and one that is over. */
const start = async (t: ExecutionContext) => {
  const side = await createWriteSide()
  const { deps, store, documents, project } = side
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const following = { from: right(await store.head()()), logger: silentLogger, signal: stop.signal }
  const directory = startUserDirectory({ ...deps, ...following, timers: immediateTimers })
  const administrators = createAdministrators(deps)
  const credentials = createTestCredentials()
  const projector = { whenProjected: project }
  const register = async (username: string, permissions: ReadonlyArray<'admin'> = []) =>
    right(
      await registerUser({ ...deps, credentials, administrators, directory, projector })(
        { ...ada, username, permissions },
        'setup',
      )(),
    )
  await register('root', ['admin'])
  await register('Ada')
  const token = {
    tokenId: 1,
    userId: 2,
    name: 'ci',
    prefix: 'lt_x',
    secretHash: 'hash',
    expiresAt: null,
    at: deps.environment.now(),
  }
  const origin = { commandId: 'c', correlationId: 'c', actor: 'user:2' }
  right(
    await handleCommand(deps)({
      ...origin,
      stream: 'api-token-1',
      decider: apiTokenDecider,
      command: { type: 'Issue', data: token },
    })(),
  )
  const owner = callerOf(2, { permissions: ['user_retention'] })
  right(await side.createLive(owner, requestOf({ retention: true }))())
  right(
    await side.lifecycle.recordSegment({
      liveId: 1,
      segment: 1,
      start: 0,
      end: 1,
      text: 'the secret',
      kind: 'transcription',
      language: 'en',
    })(),
  )
  right(await side.createLive(owner, requestOf())())
  right(await side.finishLive(owner, 2)())
  await project()
  const sealed = store.allEvents().flatMap(sealedIn)
  const hers = sealed.filter(({ envelope }) => envelope.k !== 'user-1')
  const readable = async (): Promise<number> => right(await deps.keyring.open(hers)()).filter(E.isRight).length
  const listed = async (): Promise<ReadonlyArray<string>> => {
    await project()
    const found = await Promise.all(PERSONAL.map(async (collection) => {
      const page = right(
        await documents.page(collection, {
          filter: {},
          sort: { by: 'id', direction: 'ascending' },
          skip: 0,
          limit: 10,
        })(),
      )
      return page.filter((document) => (document['userId'] ?? document['id']) === 2).map(() => collection)
    }))
    return found.flat()
  }
  const owned = { liveIdsOf: liveIdsOf({ documents }), tokenIdsOf: tokenIdsOf({ documents }) }
  const deleting = (changes: Partial<DeleteUserDeps> = {}) =>
    deleteUser({ ...deps, ...owned, directory, projector, administrators, ...changes })
  return { ...side, owned, directory, register, readable, listed, deleting, hers }
}

test('a deleted user is gone with sessions, tokens and keys, nothing is listed, and the name is free', async (t) => {
  const { deleting, directory, typesOf, admission, readable, listed, register, hers, store } = await start(t)
  t.true(hers.length >= 9)
  t.is(await readable(), hers.length)
  t.deepEqual(await listed(), [USERS, PROFILES, LIVES, LIVES, API_TOKENS])
  const remove = deleting()
  right(await remove(admin, 2)())
  t.true(O.isNone(right(await directory.byId(2)())))
  t.is(await readable(), 0)
  t.deepEqual(await listed(), [])
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.deepEqual(typesOf('live-2'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.deepEqual(typesOf('api-token-1'), ['ApiTokenIssued', 'ApiTokenRevoked'])
  t.is(admission.state().open.length, 0)
  t.deepEqual(right(await store.read('segments-1')()), [])
  t.true(
    store
      .allEvents()
      .filter(({ type }) => type === 'UserDeleted')
      .every(({ metadata }) => metadata.actor === 'user:1'),
  )

  t.deepEqual(await remove(admin, 2)(), E.left({ _tag: 'UserNotFound' }))
  t.deepEqual(await remove(admin, 4711)(), E.left({ _tag: 'UserNotFound' }))
  const again = await register('Ada')
  t.is(again.id, 3, 'another user')
  t.is(await readable(), 0)
})

test('the last administrator cannot be deleted, even by two simultaneous deletions', async (t) => {
  const { deleting, register, directory } = await start(t)
  const last = E.left({ _tag: 'LastAdministrator' } as const)
  const remove = deleting()
  t.deepEqual(await remove(admin, 1)(), last)
  await register('second', ['admin'])
  const answers = await Promise.all([remove(admin, 1)(), remove(admin, 3)()])
  t.is(answers.filter(E.isRight).length, 1)
  t.deepEqual(answers.filter(E.isLeft), [last])
  const left = await Promise.all([1, 2, 3].map(async (id) => right(await directory.byId(id)())))
  t.is(left.filter(O.isSome).length, 2)
})

test('administration cannot be left to users who cannot log in or be read', async (t) => {
  const { deps, store, register } = await start(t)
  for (const name of ['second', 'third', 'fourth']) await register(name, ['admin'])
  let missing = ['user-3']
  const open: typeof deps.keyring.open = (sealed) => async () => {
    const opened = right(await deps.keyring.open(sealed)())
    return E.right(
      sealed.map(({ key }, index) =>
        missing.includes(key)
          ? E.left({ _tag: 'KeyMissing' as const, key })
          : (opened[index] ?? E.left({ _tag: 'KeyErased' as const, key })),
      ),
    )
  }
  let damaged = ['user-4']
  const read: typeof store.read = (stream, options) =>
    damaged.includes(stream)
      ? async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' })
      : store.read(stream, options)
  const hurt = { ...deps, store: { ...store, read }, keyring: { ...deps.keyring, open } }
  const { removeThen } = createAdministrators(hurt)
  const leavesNobody = () => removeThen(1, originOf(deps, 'test'), (nobodyElse) => TE.right(nobodyElse))()
  t.deepEqual(await leavesNobody(), E.right(false), 'the fourth, behind two who do not count')
  missing = ['user-3', 'user-5']
  t.deepEqual(await leavesNobody(), E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }), 'nobody knows')
  damaged = []
  t.deepEqual(await leavesNobody(), E.right(false))
  missing = ['user-3', 'user-4', 'user-5']
  t.deepEqual(await leavesNobody(), E.right(true))
})

for (const when of ['before', 'after'] as const)
  test(`after a crash at any step, effective ${when}, the next deletion completes`, async (t) => {
    for (let last = 0; ; last++) {
      const { deps, documents, owned, deleting, readable, listed, typesOf, hers, register } = await start(t)
      const dying = createDyingProcess(deps, last, when)
      const dyingAdmission = await createAdmissionActor({ ...deps, ...dying, logger: silentLogger })
      const answer = await dying.outlive(deleting({ ...dying, admission: dyingAdmission })(admin, 2)())
      const isMade = typesOf('user-2').includes('UserDeleted')
      t.is(last > 0 || when === 'after', isMade, 'the first step decides')

      const logger = createRecordingLogger()
      const admission = await createAdmissionActor({ ...deps, logger: silentLogger })
      let checks = 0
      const listsAreCurrent = () => checks++ > 0
      const duty = eraseUsers({
        ...deps,
        ...owned,
        admission,
        documents,
        logger,
        timers: immediateTimers,
        listsAreCurrent,
      })
      if (isMade) {
        await eventually(async () => {
          if (checks < 2) throw new Error('the duty has not begun')
          if (!typesOf(await nameStream(deps.store)).includes('UsernameFreed')) throw new Error('not free yet')
          if ((await readable()) > 0) throw new Error('not erased yet')
        })
        t.deepEqual(await listed(), [])
        t.is(admission.state().open.length, 0)
        t.is((await register('Ada')).id, 3)
      } else t.is(await readable(), hers.length)
      await duty.stop()
      t.is(logger.lines.length, isMade ? 1 : 0, 'once the lists were behind')
      if (answer === 'died') continue
      right(answer)
      t.is(last, 11, 'the event, the key, the token, two lives of four and three steps, the name')
      return
    }
  })

/** The stream of Ada's name. */
const nameStream = async (store: Awaited<ReturnType<typeof start>>['deps']['store']): Promise<string> => {
  const [registered] = right(await store.read('user-2')())
  return `username-${String(registered && dataOf(registered)['usernameHash'])}`
}

test('a deletion also erases unreadable data and stops at none of it', async (t) => {
  const { deleting, readable, store, listed, deps } = await start(t)
  for (const stream of ['live-1', 'api-token-1']) {
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: deps.environment.now() }
    right(
      await store.append(stream, 'any', [
        { id: deps.environment.newId(), type: 'InventedLater', data: {}, metadata },
      ])(),
    )
  }
  t.true((await readable()) > 0)
  right(await deleting()(admin, 2)())
  t.is(await readable(), 0, 'none of her keys is left, nor those of the live that cannot be read')
  t.false((await listed()).includes(USERS))
  t.is(store.allEvents().filter(({ type }) => type === 'UsernameFreed').length, 1)
})

test('a user is erased even with unreadable admissions', async (t) => {
  const { deleting, readable, listed, deps } = await start(t)
  const hurt = { refresh: async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' } as const) }
  const admission = { ...deps.admission, ...hurt, send: () => hurt.refresh }
  right(await deleting({ admission })(admin, 2)())
  t.is(await readable(), 0)
  t.deepEqual(await listed(), [])
})
