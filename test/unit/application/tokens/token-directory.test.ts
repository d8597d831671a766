import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { sendToToken } from '../../../../application/log/send-to.ts'
import { originOf } from '../../../../application/log/origin.ts'
import type { EventStore, Position } from '../../../../application/ports/event-store.ts'
import type { TokenIdByPrefix } from '../../../../application/ports/read-models.ts'
import { startTokenDirectory } from '../../../../application/tokens/policies/token-directory.ts'
import { authenticateKey } from '../../../../application/tokens/queries/authenticate-key.ts'
import type { ApiTokenCommand } from '../../../../domain/api-token/decider.ts'
import type { User } from '../../../../domain/user/decider.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { after } from '../../../support/events/sample-events.ts'

const behind = { _tag: 'DocumentsUnavailable', reason: 'the read model is behind' } as const
const unavailable = { _tag: 'StoreUnavailable', reason: 'simulated' } as const

const user: User = {
  userId: 3, username: 'Ada', usernameHash: 'h', passwordHash: 'p', permissions: [], maxSessions: 1, maxTranslations: 1,
  status: 'active', generation: 0, createdAt: after(0), updatedAt: null,
  revision: 0, administersSince: null,
}

/** Starts a directory after token 1 was issued. The test controls the progress of the read model. */
const start = async (t: { teardown: (fn: () => void) => void }) => {
  const store = createMemoryEventStore()
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers }
  const credentials = createTestCredentials()
  const send = async (tokenId: number, command: ApiTokenCommand): Promise<Position | null> => {
    return right(await sendToToken(write)(tokenId, command, originOf(write, 'test'))).position
  }
  const issue = async (tokenId: number) => {
    const { secret, prefix, hash } = credentials.newApiToken()
    const data = { tokenId, userId: user.userId, name: 'ci', prefix, secretHash: hash, expiresAt: null, at: after(0) }
    return { secret, prefix, position: await send(tokenId, { type: 'Issue', data }) }
  }
  const first = await issue(1)
  let readModel: TokenIdByPrefix = async () => E.left(behind)
  let isLogUnavailable = false
  const queries: Array<string> = []
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const read: EventStore['read'] = async (...args) => (isLogUnavailable ? E.left(unavailable) : store.read(...args))
  const following = { store: { ...store, read }, from: right(await store.head()), logger: silentLogger, timers }
  const directory = startTokenDirectory({
    ...write, ...following,
    signal: stop.signal,
    tokenIdByPrefix: (prefix) => {
      queries.push(prefix)
      return readModel(prefix)
    },
  })
  const authenticate = authenticateKey({
    tokens: directory, users: { byId: async () => E.right(O.some(user)) }, credentials, environment: write.environment,
    uses: { record: () => undefined },
  })
  return {
    directory,
    first,
    issue,
    send,
    queries,
    store,
    authenticate,
    readModelKnows: (ids: Readonly<Record<string, number>>) => {
      readModel = async (prefix) => E.right(O.fromNullable(ids[prefix]))
    },
    readModelIsBehind: () => {
      readModel = async () => E.left(behind)
    },
    stopLog: () => {
      isLogUnavailable = true
    },
  }
}

const isAccepted = (answer: E.Either<unknown, O.Option<unknown>>): boolean =>
  E.isRight(answer) && O.isSome(answer.right)

test('while the read model is behind, an unknown token is not reported as invalid', async (t) => {
  const { authenticate, first, readModelKnows } = await start(t)
  t.deepEqual(await authenticate(first.secret), E.left(behind))
  t.deepEqual(
    await authenticate(`lt_${'0'.repeat(12)}_${'0'.repeat(43)}`),
    E.left(behind),
    'the same holds for a token that was never issued',
  )
  t.deepEqual(await authenticate('lt_ malformed'), E.right(O.none))
  readModelKnows({ [first.prefix]: 1 })
  t.true(isAccepted(await authenticate(first.secret)))
  t.deepEqual(await authenticate(`lt_${'0'.repeat(12)}_${'0'.repeat(43)}`), E.right(O.none))
})

test('in an outage a used token is accepted, and an unused one is not reported as invalid', async (t) => {
  const { authenticate, first, readModelKnows, readModelIsBehind, stopLog, queries } = await start(t)
  readModelKnows({ [first.prefix]: 1 })
  t.true(isAccepted(await authenticate(first.secret)))
  readModelIsBehind()
  t.true(isAccepted(await authenticate(first.secret)))
  stopLog()
  t.true(isAccepted(await authenticate(first.secret)))
  t.is(queries.length, 1)
})

test('a token whose stream is unreadable is not reported as invalid', async (t) => {
  const { authenticate, first, readModelKnows, stopLog } = await start(t)
  readModelKnows({ [first.prefix]: 1 })
  stopLog()
  t.deepEqual(await authenticate(first.secret), E.left(unavailable))
})

test('tokens issued since the start are known without the read model, and revoked ones are refused', async (t) => {
  const { directory, authenticate, issue, send } = await start(t)
  const { secret, position } = await issue(2)
  if (position !== null) await directory.whenSeen(position)
  t.true(isAccepted(await authenticate(secret)))
  for (const [isActive, isExpected] of [[false, false], [true, true]] as const) {
    const changed = await send(2, { type: 'Change', userId: user.userId, isActive })
    if (changed !== null) await directory.whenSeen(changed)
    t.is(isAccepted(await authenticate(secret)), isExpected)
  }
  const revoked = await send(2, { type: 'Revoke', userId: user.userId })
  if (revoked !== null) await directory.whenSeen(revoked)
  t.deepEqual(await authenticate(secret), E.right(O.none), 'a revoked token is known without the read model')
})
