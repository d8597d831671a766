import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { handleCommand } from '../../../../application/log/handle-command.ts'
import { originOf } from '../../../../application/log/origin.ts'
import type { EventStore, Position } from '../../../../application/ports/event-store.ts'
import type { TokenIdByPrefix } from '../../../../application/ports/read-models.ts'
import { startTokenDirectory } from '../../../../application/tokens/policies/token-directory.ts'
import { authenticateKey } from '../../../../application/tokens/queries/authenticate-key.ts'
import { apiTokenDecider } from '../../../../domain/api-token/decider.ts'
import type { ApiTokenCommand } from '../../../../domain/api-token/decider.ts'
import type { User } from '../../../../domain/user/decider.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { after } from '../../domain/samples.ts'

const behind = { _tag: 'DocumentsUnavailable', reason: 'the read model is behind' } as const
const away = { _tag: 'StoreUnavailable', reason: 'the test says so' } as const

const user: User = {
  userId: 3, username: 'Ada', usernameHash: 'h', passwordHash: 'p', permissions: [], maxSessions: 1, maxTranslations: 1,
  status: 'active', generation: 0, createdAt: after(0), updatedAt: null,
}

/** A log with token 1, and a directory that was started behind it; its read model has come as far as the test says. */
const start = async (t: { teardown: (fn: () => void) => void }) => {
  const store = createMemoryEventStore()
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers }
  const credentials = createTestCredentials()
  const send = async (tokenId: number, command: ApiTokenCommand): Promise<Position | null> => {
    const request = { ...originOf(write, 'test'), stream: `api-token-${tokenId}`, decider: apiTokenDecider, command }
    return right(await handleCommand(write)(request)()).position
  }
  const issue = async (tokenId: number) => {
    const { secret, prefix, hash } = credentials.newApiToken()
    const about = { tokenId, userId: user.userId, name: 'ci', prefix, secretHash: hash, expiresAt: null, at: after(0) }
    return { secret, prefix, position: await send(tokenId, { type: 'Issue', data: about }) }
  }
  const first = await issue(1)
  let readModel: TokenIdByPrefix = () => TE.left(behind)
  let isLogAway = false
  const asked: Array<string> = []
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const read: EventStore['read'] = (...args) => (isLogAway ? TE.left(away) : store.read(...args))
  const following = { store: { ...store, read }, from: right(await store.head()()), logger: silentLogger, timers }
  const directory = startTokenDirectory({
    ...following,
    environment: write.environment,
    signal: stop.signal,
    tokenIdByPrefix: (prefix) => {
      asked.push(prefix)
      return readModel(prefix)
    },
  })
  const lets = authenticateKey({
    tokens: directory, users: { byId: () => TE.right(O.some(user)) }, credentials, environment: write.environment,
    uses: { record: () => undefined },
  })
  return {
    directory,
    first,
    issue,
    send,
    asked,
    store,
    lets,
    readModelKnows: (ids: Readonly<Record<string, number>>) => {
      readModel = (prefix) => TE.right(O.fromNullable(ids[prefix]))
    },
    readModelIsBehind: () => {
      readModel = () => TE.left(behind)
    },
    logIsAway: () => {
      isLogAway = true
    },
  }
}

const letsIn = (answer: E.Either<unknown, O.Option<unknown>>): boolean => E.isRight(answer) && O.isSome(answer.right)

test('while the read model is behind, an unknown token is not reported as invalid', async (t) => {
  const { lets, first, readModelKnows } = await start(t)
  t.deepEqual(await lets(first.secret)(), E.left(behind))
  t.deepEqual(
    await lets(`lt_${'0'.repeat(12)}_${'0'.repeat(43)}`)(),
    E.left(behind),
    'nor is one that nobody ever issued',
  )
  t.deepEqual(await lets('lt_ what cannot be one')(), E.right(O.none))
  readModelKnows({ [first.prefix]: 1 })
  t.true(letsIn(await lets(first.secret)()))
  t.deepEqual(await lets(`lt_${'0'.repeat(12)}_${'0'.repeat(43)}`)(), E.right(O.none))
})

test('in an outage a used token is accepted, and an unused one is not reported as invalid', async (t) => {
  const { lets, first, readModelKnows, readModelIsBehind, logIsAway, asked } = await start(t)
  readModelKnows({ [first.prefix]: 1 })
  t.true(letsIn(await lets(first.secret)()))
  readModelIsBehind()
  t.true(letsIn(await lets(first.secret)()))
  logIsAway()
  t.true(letsIn(await lets(first.secret)()))
  t.is(asked.length, 1)
})

test('a token whose stream is unreadable is not reported as invalid', async (t) => {
  const { lets, first, readModelKnows, logIsAway } = await start(t)
  readModelKnows({ [first.prefix]: 1 })
  logIsAway()
  t.deepEqual(await lets(first.secret)(), E.left(away))
})

test('tokens issued since the start are known without the read model, and ended ones refused at once', async (t) => {
  const { directory, lets, issue, send } = await start(t)
  const { secret, position } = await issue(2)
  if (position !== null) await directory.whenSeen(position)
  t.true(letsIn(await lets(secret)()))
  for (const [isActive, isIn] of [[false, false], [true, true]] as const) {
    const changed = await send(2, { type: 'Change', userId: user.userId, isActive, at: after(0) })
    if (changed !== null) await directory.whenSeen(changed)
    t.is(letsIn(await lets(secret)()), isIn)
  }
  const revoked = await send(2, { type: 'Revoke', userId: user.userId, at: after(0) })
  if (revoked !== null) await directory.whenSeen(revoked)
  t.deepEqual(await lets(secret)(), E.right(O.none), 'that is known, whatever the read model says')
})
