import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { handleCommand } from '../../../../application/log/handle-command.ts'
import type { AuthenticateKey } from '../../../../application/tokens/queries/authenticate-key.ts'
import { userDecider } from '../../../../domain/user/decider.ts'
import { systemTimers } from '../../../../infrastructure/node/system-timers.ts'
import { after } from '../../domain/samples.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf, startTokenWorld, tokenCommands } from '../../../support/worlds/token-world.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

/** Whether the secret lets somebody in. */
const lets = async (authenticateKey: AuthenticateKey, secret: string): Promise<boolean> =>
  O.isSome(right(await authenticateKey(secret)()))

const everything = { skip: 0, limit: 100 }
const ci = { name: 'ci', expiresAt: null }

const startWithToken = async (
  t: Parameters<typeof startTokenWorld>[0],
  stores: Parameters<typeof startTokenWorld>[1] = {},
) => {
  const world = await startTokenWorld(t, stores)
  const userId = await world.register('Ada')
  const caller = callerOf(userId)
  const { token, secret } = right(await world.tokens.issueToken(caller, ci)())
  const usesInLog = async () =>
    right(await world.store.read(`token-use-${token.id}`)()).map((event) => dataOf(event)['at'])
  return { ...world, userId, caller, token, secret, usesInLog }
}

test('an API key identifies its user from the moment of the answer [R30]', async (t) => {
  const { authenticateKey, secret, userId } = await startWithToken(t)
  t.deepEqual(await authenticateKey(secret)(), E.right(O.some({ ...callerOf(userId), credential: 'api-key' as const })))
})

test('log, documents and directory hold neither the secret nor the name in clear [R117]', async (t) => {
  const store = createMemoryEventStore()
  const { tokens, caller, documents, userId } = await startWithToken(t, { store })
  const { secret, token } = right(await tokens.issueToken(caller, { name: 'Quokka key', expiresAt: null })())
  const listed = documents.page('api-tokens', {
    filter: { userId },
    sort: { by: 'id', direction: 'ascending' },
    ...everything,
  })
  const found = JSON.stringify([store.allEvents(), right(await listed())])
  t.true(found.includes(token.prefix))
  t.false(found.includes(secret.slice(16)))
  t.false(found.includes('Quokka'))
  t.false(JSON.stringify(right(await tokens.listTokens(caller.userId, everything)())).includes('ash'))
})

test('guesses, other forms and secrets with a shared public part are refused [R32 S25]', async (t) => {
  const { authenticateKey, secret } = await startWithToken(t)
  const turned = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
  for (const bad of [
    '',
    'lt_',
    secret.slice(0, -1),
    turned,
    `${secret} `,
    secret.replace('lt_', 'lt-'),
    `lt_${'0'.repeat(12)}${secret.slice(15)}`,
  ])
    t.deepEqual(await authenticateKey(bad)(), E.right(O.none), bad)
})

test('a switched-off or revoked token is refused immediately, a switched-on one works again [R119 R120]', async (t) => {
  const { authenticateKey, tokens, caller, token, secret } = await startWithToken(t)
  t.false(right(await tokens.changeToken(caller, token.id, { isActive: false })()).isActive)
  t.deepEqual(await authenticateKey(secret)(), E.right(O.none))
  t.true(right(await tokens.changeToken(caller, token.id, { isActive: true })()).isActive)
  t.true(await lets(authenticateKey, secret))
  right(await tokens.revokeToken(caller, token.id)())
  t.deepEqual(await authenticateKey(secret)(), E.right(O.none))
  t.deepEqual(right(await tokens.listTokens(caller.userId, everything)()), { items: [], total: 0 })
})

test('the operator issues tokens for users and changes any token, recorded as operator', async (t) => {
  const store = createMemoryEventStore()
  const { tokens, userId, caller, token } = await startWithToken(t, { store })
  const operator = { ...caller, permissions: [], credential: 'operator' as const }
  const issued = right(await tokens.issueToken(operator, { name: 'made for you', expiresAt: null })()).token
  t.is(issued.userId, userId)
  const nobody = { ...operator, userId: 0 }
  t.like(right(await tokens.changeToken(nobody, token.id, { name: 'nightly' })()), { name: 'nightly', userId })
  right(await tokens.revokeToken(nobody, token.id)())
  for (const id of [token.id, 4711]) {
    t.deepEqual(await tokens.changeToken(nobody, id, { isActive: false })(), E.left({ _tag: 'ApiTokenNotFound' }))
    t.deepEqual(await tokens.revokeToken(nobody, id)(), E.left({ _tag: 'ApiTokenNotFound' }))
  }
  const actors = store
    .allEvents()
    .filter(({ stream }) => stream.startsWith('api-token-'))
    .map(({ type, metadata }) => [type, metadata.actor])
  t.deepEqual(actors, [
    ['ApiTokenIssued', `user:${userId}`],
    ['ApiTokenIssued', 'operator'],
    ['ApiTokenRenamed', 'operator'],
    ['ApiTokenRevoked', 'operator'],
  ])
})

test('a write is answered once the directory knows it [R32]', async (t) => {
  const world = await startWithToken(t)
  const { caller, store, tokenDirectory, projector } = world
  let seen = Promise.withResolvers<void>()
  const waiting = { ...tokenDirectory, whenSeen: () => seen.promise }
  const tokens = tokenCommands({ ...world, timers: systemTimers, tokens: waiting })
  const isAnswered = async (answer: Promise<unknown>): Promise<boolean> => {
    let answered = false
    void answer.then(() => { answered = true })
    const head = right(await store.head()())
    await Promise.all([projector.whenProjected(head), tokenDirectory.whenSeen(head)])
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    return answered
  }
  const answersInTime = async <A>(send: () => Promise<A>): Promise<A> => {
    seen = Promise.withResolvers<void>()
    const answer = send()
    t.false(await isAnswered(answer))
    seen.resolve()
    return answer
  }
  const { token } = right(await answersInTime(tokens.issueToken(caller, ci)))
  right(await answersInTime(tokens.changeToken(caller, token.id, { isActive: false })))
  right(await answersInTime(tokens.revokeToken(caller, token.id)))
})

test('a token is refused from the instant of its expiry [R32]', async (t) => {
  const { authenticateKey, tokens, caller, setClock } = await startWithToken(t)
  setClock(after(0))
  const { secret } = right(await tokens.issueToken(caller, { name: 'short', expiresAt: after(1000) })())
  setClock(after(999))
  t.true(await lets(authenticateKey, secret))
  setClock(after(1000))
  t.deepEqual(await authenticateKey(secret)(), E.right(O.none))
})

test('an already expired token is not issued [R118]', async (t) => {
  const { tokens, caller, setClock } = await startWithToken(t)
  setClock(after(0))
  for (const expiresAt of [after(0), after(-1)])
    t.deepEqual(await tokens.issueToken(caller, { name: 'late', expiresAt })(), E.left({ _tag: 'ExpiryNotInFuture' }))
  t.is(right(await tokens.listTokens(caller.userId, everything)()).total, 1)
})

test("a disabled user's tokens are refused until the user is enabled again [R32 S10]", async (t) => {
  const { authenticateKey, secret, userId, store, keyring, ...world } = await startWithToken(t)
  const environment = createTestEnvironment()
  const setActive = async (isActive: boolean): Promise<void> => {
    const about = { commandId: environment.newId(), correlationId: 'c', actor: 'service' }
    const handle = handleCommand({ store, keyring, environment, timers: systemTimers })
    right(
      await handle({
        stream: `user-${userId}`,
        decider: userDecider,
        command: { type: 'Change', changes: { isActive }, at: environment.now() },
        ...about,
      })(),
    )
    await eventually(async () => { assert.equal(await lets(authenticateKey, secret), isActive) })
  }
  await setActive(false)
  await setActive(true)
  await world.stop()
  t.pass()
})

test("another user's token is unknown and stays unchanged [R36 R119]", async (t) => {
  const { tokens, token, secret, caller, authenticateKey, register } = await startWithToken(t)
  const other = callerOf(await register('Bob'))
  const unknown = E.left({ _tag: 'ApiTokenNotFound' })
  for (const id of [token.id, token.id + 1, 0, -1, Infinity]) {
    t.deepEqual(await tokens.revokeToken(other, id)(), unknown)
    t.deepEqual(await tokens.changeToken(other, id, { isActive: false })(), unknown)
  }
  t.deepEqual(right(await tokens.listTokens(other.userId, everything)()), { items: [], total: 0 })
  t.true(await lets(authenticateKey, secret))
  t.deepEqual(right(await tokens.listTokens(caller.userId, everything)()).items.map(({ isActive }) => isActive), [true])
})

test('uses are recorded at most once a minute, and the token shows the last one [R33]', async (t) => {
  const { authenticateKey, tokens, caller, token, secret, uses, setClock, usesInLog } = await startWithToken(t)
  t.is(right(await tokens.listTokens(caller.userId, everything)()).items[0]?.lastUsedAt, null)
  const useAt = async (milliseconds: number, times: number): Promise<void> => {
    setClock(after(milliseconds))
    for (let n = 0; n < times; n++) t.true(await lets(authenticateKey, secret))
    await uses.settled()
  }
  const shows = (at: string) => eventually(async () => {
    assert.equal(right(await tokens.listTokens(caller.userId, everything)()).items[0]?.lastUsedAt, at)
  })
  await useAt(0, 20)
  await shows(after(0))
  await useAt(59_999, 20)
  t.deepEqual(await usesInLog(), [after(0)])
  await useAt(60_000, 20)
  await shows(after(60_000))
  t.deepEqual(await usesInLog(), [after(60_000)], 'only the newest is kept')
  t.is(right(await tokens.changeToken(caller, token.id, { name: 'renamed' })()).lastUsedAt, after(60_000))
})

test('a refused token records no use [R33]', async (t) => {
  const { authenticateKey, tokens, caller, token, secret, uses, usesInLog } = await startWithToken(t)
  await authenticateKey(`${secret.slice(0, 16)}${'x'.repeat(43)}`)()
  right(await tokens.changeToken(caller, token.id, { isActive: false })())
  await authenticateKey(secret)()
  await uses.settled()
  t.deepEqual(await usesInLog(), [])
})

test('a use that cannot be recorded refuses nobody, and the next one is recorded', async (t) => {
  const inner = createMemoryEventStore()
  let isAway = false
  const append: EventStore['append'] = (stream, ...rest) =>
    isAway && stream.startsWith('token-use-')
      ? TE.left({ _tag: 'StoreUnavailable', reason: 'away' })
      : inner.append(stream, ...rest)
  const { authenticateKey, secret, uses, logger, usesInLog } = await startWithToken(t, { store: { ...inner, append } })
  isAway = true
  t.true(await lets(authenticateKey, secret))
  await uses.settled()
  t.true(logger.lines.some(({ message }) => message.includes('could not be recorded')))
  t.deepEqual(await usesInLog(), [])
  isAway = false
  t.true(await lets(authenticateKey, secret))
  await uses.settled()
  t.is((await usesInLog()).length, 1)
})

test('after a restart tokens, their states and uses are unchanged [R14 R30]', async (t) => {
  const [store, keyring] = [createMemoryEventStore(), createMemoryKeyring()]
  const first = await startWithToken(t, { store, keyring })
  first.setClock(after(0))
  t.true(await lets(first.authenticateKey, first.secret))
  const off = right(await first.tokens.issueToken(first.caller, ci)())
  right(await first.tokens.changeToken(first.caller, off.token.id, { isActive: false })())
  const gone = right(await first.tokens.issueToken(first.caller, ci)())
  right(await first.tokens.revokeToken(first.caller, gone.token.id)())
  await first.stop()

  const { authenticateKey, tokens, uses, setClock } = await startTokenWorld(t, { store, keyring })
  setClock(after(30_000))
  t.true(await lets(authenticateKey, first.secret))
  await uses.settled()
  t.deepEqual([await lets(authenticateKey, off.secret), await lets(authenticateKey, gone.secret)], [false, false])
  t.deepEqual(await uses.lastUseOf(first.token.id)(), E.right(after(0)))
  t.deepEqual(
    right(await tokens.listTokens(first.caller.userId, everything)()).items.map(({ id }) => id),
    [off.token.id, first.token.id],
  )
  t.true(right(await tokens.issueToken(first.caller, ci)()).token.id > gone.token.id)
})
