import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { originOf } from '../../../../application/log/origin.ts'
import { createAdministrators } from '../../../../application/users/administrators.ts'
import { eraseUsers } from '../../../../application/users/policies/erase-users.ts'
import { API_TOKENS } from '../../../../projections/api-tokens/document.ts'
import { LIVES } from '../../../../projections/lives/document.ts'
import { PROFILES } from '../../../../projections/profiles/document.ts'
import { USERS } from '../../../../projections/users/document.ts'
import { createDyingProcess } from '../../../support/doubles/dying-process.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger, silentLogger } from '../../../support/doubles/loggers.ts'
import { dataOf, sealedIn } from '../../../support/events/stored-data.ts'
import { sendToToken } from '../../../../application/log/send-to.ts'
import { deleteUser, type DeleteUserDeps } from '../../../../application/users/commands/delete-user.ts'
import { startUserDirectory } from '../../../../application/users/policies/user-directory.ts'
import { registerUser } from '../../../../application/users/commands/register-user.ts'
import { tokenIdsOf } from '../../../../projections/api-tokens/queries.ts'
import { liveIdsOf } from '../../../../projections/lives/queries.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { ada } from '../../../support/worlds/user-world.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const admin = callerOf(1, { permissions: ['admin'] })
const PERSONAL = [USERS, PROFILES, LIVES, API_TOKENS]

/** User 1 (root) is an administrator. User 2 (Ada) has an API token, a running session with text and an ended one. */
const startDeletion = async (t: ExecutionContext) => {
  const side = await createWriteSide()
  const { deps, store, documents, project } = side
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const following = { from: right(await store.head()), logger: silentLogger, signal: stop.signal }
  const directory = startUserDirectory({ ...deps, ...following, timers: immediateTimers })
  const administrators = createAdministrators(deps)
  const credentials = createTestCredentials()
  const projector = { whenProjected: project }
  const register = async (username: string, permissions: ReadonlyArray<'admin'> = []) =>
    right(
      await registerUser({ ...deps, credentials, administrators, directory, projector })(
        { ...ada, username, permissions },
        'setup',
      ),
    )
  await register('root', ['admin'])
  await register('Ada')
  const token = { tokenId: 1, userId: 2, name: 'ci', prefix: 'lt_x', secretHash: 'hash', expiresAt: null }
  const origin = { commandId: 'c', correlationId: 'c', actor: 'user:2' }
  right(await sendToToken(deps)(1, { type: 'Issue', data: token }, origin))
  const owner = callerOf(2, { permissions: ['user_retention'] })
  right(await side.createLive(owner, requestOf({ retention: true })))
  right(
    await side.lifecycle.recordSegment({
      liveId: 1,
      segment: 1,
      start: 0,
      end: 1,
      text: 'the secret',
      kind: 'transcription',
      language: 'en',
    }),
  )
  right(await side.createLive(owner, requestOf()))
  right(await side.finishLive(owner, 2))
  await project()
  const sealed = store.allEvents().flatMap(sealedIn)
  const ofAda = sealed.filter(({ envelope }) => envelope.k !== 'user-1')
  /** Returns how many of Ada's encrypted texts can still be decrypted. */
  const readable = async (): Promise<number> => right(await deps.keyring.open(ofAda)).filter(E.isRight).length
  /** Returns the collections that list data of Ada, one entry for each document. */
  const listed = async (): Promise<ReadonlyArray<string>> => {
    await project()
    const found = await Promise.all(PERSONAL.map(async (collection) => {
      const page = right(
        await documents.page(collection, {
          filter: {},
          sort: { by: 'id', direction: 'ascending' },
          skip: 0,
          limit: 10,
        }),
      )
      return page.filter((document) => (document['userId'] ?? document['id']) === 2).map(() => collection)
    }))
    return found.flat()
  }
  /** The queries for the ids of a user's sessions and tokens. */
  const owned = { liveIdsOf: liveIdsOf({ documents }), tokenIdsOf: tokenIdsOf({ documents }) }
  const deleting = (changes: Partial<DeleteUserDeps> = {}) =>
    deleteUser({ ...deps, ...owned, directory, projector, administrators, ...changes })
  return { ...side, owned, directory, register, readable, listed, deleting, ofAda }
}

test('deleting a user removes sessions, tokens, keys and list entries, and frees the name', async (t) => {
  const { deleting, directory, typesOf, admission, readable, listed, register, ofAda, store } = await startDeletion(t)
  t.true(ofAda.length >= 9)
  t.is(await readable(), ofAda.length)
  t.deepEqual(await listed(), [USERS, PROFILES, LIVES, LIVES, API_TOKENS])
  const remove = deleting()
  right(await remove(admin, 2))
  t.true(O.isNone(right(await directory.byId(2))))
  t.is(await readable(), 0)
  t.deepEqual(await listed(), [])
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.deepEqual(typesOf('live-2'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.deepEqual(typesOf('api-token-1'), ['ApiTokenIssued', 'ApiTokenRevoked'])
  t.is(admission.state().open.length, 0)
  t.deepEqual(right(await store.read('segments-1')), [])
  t.true(
    store
      .allEvents()
      .filter(({ type }) => type === 'UserDeleted')
      .every(({ metadata }) => metadata.actor === 'user:1'),
  )

  t.deepEqual(await remove(admin, 2), E.left({ _tag: 'UserNotFound' }))
  t.deepEqual(await remove(admin, 4711), E.left({ _tag: 'UserNotFound' }))
  const newAda = await register('Ada')
  t.is(newAda.id, 3, 'a new user id')
  t.is(await readable(), 0)
})

test('a deletion removes an open session that the list does not show yet', async (t) => {
  const { deleting, readable, admission, typesOf } = await startDeletion(t)
  right(await deleting({ liveIdsOf: async () => E.right([2]) })(admin, 2))
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'LiveFinished', 'LiveDeleted'])
  t.is(admission.state().open.length, 0)
  t.is(await readable(), 0)
})

test('the last administrator cannot be deleted, even by two simultaneous deletions', async (t) => {
  const { deleting, register, directory } = await startDeletion(t)
  const last = E.left({ _tag: 'LastAdministrator' } as const)
  const remove = deleting()
  t.deepEqual(await remove(admin, 1), last)
  await register('second', ['admin'])
  const answers = await Promise.all([remove(admin, 1), remove(admin, 3)])
  t.is(answers.filter(E.isRight).length, 1)
  t.deepEqual(answers.filter(E.isLeft), [last])
  const administrators = await Promise.all([1, 2, 3].map(async (id) => right(await directory.byId(id))))
  t.is(administrators.filter(O.isSome).length, 2)
})

test('an administrator who cannot log in or cannot be read does not count as a remaining administrator', async (t) => {
  const { deps, store, register } = await startDeletion(t)
  for (const name of ['second', 'third', 'fourth']) await register(name, ['admin'])
  let missing = ['user-3']
  const open: typeof deps.keyring.open = async (sealed) => {
    const opened = right(await deps.keyring.open(sealed))
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
      ? (async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }))()
      : store.read(stream, options)
  const damagedDeps = { ...deps, states: undefined, store: { ...store, read }, keyring: { ...deps.keyring, open } }
  const { removeThen } = createAdministrators(damagedDeps)
  const leavesNobody = () => removeThen(1, originOf(deps, 'test'), async (nobodyElse) => E.right(nobodyElse))
  t.deepEqual(await leavesNobody(), E.right(false), 'the readable administrator is found after two unreadable ones')
  missing = ['user-3', 'user-5']
  t.deepEqual(await leavesNobody(), E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' }), 'the answer is unknown')
  damaged = []
  t.deepEqual(await leavesNobody(), E.right(false))
  missing = ['user-3', 'user-4', 'user-5']
  t.deepEqual(await leavesNobody(), E.right(true))
})

for (const when of ['before', 'after'] as const)
  test(`when a process dies ${when} any of its writes, the deletion is completed`, async (t) => {
    for (let lastWrite = 0; ; lastWrite++) {
      const { deps, documents, owned, deleting, readable, listed, typesOf, ofAda, register } = await startDeletion(t)
      const dying = createDyingProcess(deps, lastWrite, when)
      const dyingAdmission = await createAdmissionActor({ ...deps, ...dying, logger: silentLogger })
      const answer = await dying.outlive(deleting({ ...dying, admission: dyingAdmission })(admin, 2))
      const isDeleted = typesOf('user-2').includes('UserDeleted')
      t.is(lastWrite > 0 || when === 'after', isDeleted, 'the first write stores the deletion')

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
      if (isDeleted) {
        await eventually(async () => {
          if (checks < 2) throw new Error('the duty has not begun')
          if (!typesOf(await nameStream(deps.store)).includes('UsernameFreed')) throw new Error('not free yet')
          if ((await readable()) > 0) throw new Error('not erased yet')
        })
        t.deepEqual(await listed(), [])
        t.is(admission.state().open.length, 0)
        t.is((await register('Ada')).id, 3)
      } else t.is(await readable(), ofAda.length)
      await duty.stop()
      const warnings = logger.lines.filter(({ level }) => level === 'warn')
      t.is(warnings.length, isDeleted ? 1 : 0, 'one warning while the lists were outdated')
      if (answer === 'died') continue
      right(answer)
      t.is(lastWrite, 11, 'one write each for the event, key, token and name, and seven for the two sessions')
      return
    }
  })

/** Returns the stream of Ada's user name. */
const nameStream = async (store: Awaited<ReturnType<typeof startDeletion>>['deps']['store']): Promise<string> => {
  const [registered] = right(await store.read('user-2'))
  return `username-${String(registered && dataOf(registered)['usernameHash'])}`
}

test('a deletion also erases unreadable data and does not stop at it', async (t) => {
  const { deleting, readable, store, listed, deps } = await startDeletion(t)
  for (const stream of ['live-1', 'api-token-1']) {
    const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: deps.environment.now() }
    right(
      await store.append(stream, 'any', [{ id: deps.environment.newId(), type: 'InventedLater', data: {}, metadata }]),
    )
  }
  t.true((await readable()) > 0)
  right(await deleting()(admin, 2))
  t.is(await readable(), 0, 'all keys of the user and of the unreadable session are erased')
  t.false((await listed()).includes(USERS))
  t.is(store.allEvents().filter(({ type }) => type === 'UsernameFreed').length, 1)
})

test('a user is erased even with unreadable admissions', async (t) => {
  const { deleting, readable, listed, deps } = await startDeletion(t)
  const unreadable = { refresh: async () => E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' } as const) }
  const admission = { ...deps.admission, ...unreadable, send: unreadable.refresh }
  right(await deleting({ admission })(admin, 2))
  t.is(await readable(), 0)
  t.deepEqual(await listed(), [])
})
