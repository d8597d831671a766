import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { sendToToken } from '../../../../application/log/send-to.ts'
import { createAdministrators } from '../../../../application/users/administrators.ts'
import { deleteUser, type DeleteUserDeps } from '../../../../application/users/commands/delete-user.ts'
import { startUserDirectory } from '../../../../application/users/policies/user-directory.ts'
import { registerUser } from '../../../../application/users/commands/register-user.ts'
import { API_TOKENS } from '../../../../projections/api-tokens/document.ts'
import { tokenIdsOf } from '../../../../projections/api-tokens/queries.ts'
import { LIVES } from '../../../../projections/lives/document.ts'
import { liveIdsOf } from '../../../../projections/lives/queries.ts'
import { PROFILES } from '../../../../projections/profiles/document.ts'
import { USERS } from '../../../../projections/users/document.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { ada } from '../../../support/worlds/user-world.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { sealedIn } from '../../../support/events/stored-data.ts'

export const admin = callerOf(1, { permissions: ['admin'] })
const PERSONAL = [USERS, PROFILES, LIVES, API_TOKENS]

/** User 1 (root) is an administrator. User 2 (Ada) has an API token, a running session with text and an ended one. */
export const startDeletion = async (t: ExecutionContext) => {
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
  const token = {
    tokenId: 1,
    userId: 2,
    name: 'ci',
    prefix: 'lt_x',
    secretHash: 'hash',
    expiresAt: null,
  }
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
