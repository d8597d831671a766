import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { handleCommand } from '../../../../application/log/handle-command.ts'
import { userDecider } from '../../../../domain/user/decider.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { after } from '../../../support/events/sample-events.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf, tokenCommands } from '../../../support/worlds/token-world.ts'
import { accepts, ci, everything, startWithToken } from './token-owner.ts'
import { TOKEN_LISTS } from '../../../../application/ports/projector.ts'

test('an API key identifies its user from the moment of the answer', async (t) => {
  const { authenticateKey, secret, userId } = await startWithToken(t)
  t.deepEqual(await authenticateKey(secret), E.right(O.some({ ...callerOf(userId), credential: 'api-key' as const })))
})

test('log, documents and directory do not contain the secret or the plain name', async (t) => {
  const store = createMemoryEventStore()
  const { tokens, caller, documents, userId } = await startWithToken(t, { store })
  const { secret, token } = right(await tokens.issueToken(caller, { name: 'Quokka key', expiresAt: null }))
  const listed = () => documents.page('api-tokens', {
    filter: { userId },
    sort: { by: 'id', direction: 'ascending' },
    ...everything,
  })
  const found = JSON.stringify([store.allEvents(), right(await listed())])
  t.true(found.includes(token.prefix))
  t.false(found.includes(secret.slice(16)))
  t.false(found.includes('Quokka'))
  t.false(JSON.stringify(right(await tokens.listTokens(caller.userId, everything))).includes('ash'))
})

test('guesses, malformed secrets and secrets that share the public part are refused', async (t) => {
  const { authenticateKey, secret } = await startWithToken(t)
  const altered = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
  for (const invalid of [
    '',
    'lt_',
    secret.slice(0, -1),
    altered,
    `${secret} `,
    secret.replace('lt_', 'lt-'),
    `lt_${'0'.repeat(12)}${secret.slice(15)}`,
  ])
    t.deepEqual(await authenticateKey(invalid), E.right(O.none), invalid)
})

test('a switched-off or revoked token is refused immediately, a switched-on one works again', async (t) => {
  const { authenticateKey, tokens, caller, token, secret } = await startWithToken(t)
  t.false(right(await tokens.changeToken(caller, token.id, { isActive: false })).isActive)
  t.deepEqual(await authenticateKey(secret), E.right(O.none))
  t.true(right(await tokens.changeToken(caller, token.id, { isActive: true })).isActive)
  t.true(await accepts(authenticateKey, secret))
  right(await tokens.revokeToken(caller, token.id))
  t.deepEqual(await authenticateKey(secret), E.right(O.none))
  t.deepEqual(right(await tokens.listTokens(caller.userId, everything)), { items: [], total: 0 })
})

test('the operator issues tokens for users and changes any token; the events name the operator', async (t) => {
  const store = createMemoryEventStore()
  const { tokens, userId, caller, token } = await startWithToken(t, { store })
  const operator = { ...caller, permissions: [], credential: 'operator' as const }
  const issued = right(await tokens.issueToken(operator, { name: 'made for you', expiresAt: null })).token
  t.is(issued.userId, userId)
  const withoutUser = { ...operator, userId: 0 }
  t.like(right(await tokens.changeToken(withoutUser, token.id, { name: 'nightly' })), { name: 'nightly', userId })
  right(await tokens.revokeToken(withoutUser, token.id))
  for (const id of [token.id, 4711]) {
    t.deepEqual(await tokens.changeToken(withoutUser, id, { isActive: false }), E.left({ _tag: 'ApiTokenNotFound' }))
    t.deepEqual(await tokens.revokeToken(withoutUser, id), E.left({ _tag: 'ApiTokenNotFound' }))
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

test('a write is answered only after the token directory has seen it', async (t) => {
  const world = await startWithToken(t)
  const { caller, store, tokenDirectory, projector } = world
  let seen = Promise.withResolvers<void>()
  const waiting = { ...tokenDirectory, whenSeen: () => seen.promise }
  const tokens = tokenCommands({ ...world, timers: systemTimers, tokens: waiting })
  const isAnswered = async (answer: Promise<unknown>): Promise<boolean> => {
    let answered = false
    void answer.then(() => { answered = true })
    const head = right(await store.head())
    await Promise.all([projector.whenProjected(TOKEN_LISTS, head), tokenDirectory.whenSeen(head)])
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    return answered
  }
  const answerAfterDirectory = async <A>(send: () => Promise<A>): Promise<A> => {
    seen = Promise.withResolvers<void>()
    const answer = send()
    t.false(await isAnswered(answer))
    seen.resolve()
    return answer
  }
  const { token } = right(await answerAfterDirectory(() => tokens.issueToken(caller, ci)))
  right(await answerAfterDirectory(() => tokens.changeToken(caller, token.id, { isActive: false })))
  right(await answerAfterDirectory(() => tokens.revokeToken(caller, token.id)))
})

test('a token is refused from the instant of its expiry', async (t) => {
  const { authenticateKey, tokens, caller, setClock } = await startWithToken(t)
  setClock(after(0))
  const { secret } = right(await tokens.issueToken(caller, { name: 'short', expiresAt: after(1000) }))
  setClock(after(999))
  t.true(await accepts(authenticateKey, secret))
  setClock(after(1000))
  t.deepEqual(await authenticateKey(secret), E.right(O.none))
})

test('an already expired token is not issued', async (t) => {
  const { tokens, caller, setClock } = await startWithToken(t)
  setClock(after(0))
  for (const expiresAt of [after(0), after(-1)])
    t.deepEqual(await tokens.issueToken(caller, { name: 'late', expiresAt }), E.left({ _tag: 'ExpiryNotInFuture' }))
  t.is(right(await tokens.listTokens(caller.userId, everything)).total, 1)
})

test("a disabled user's tokens are refused until the user is enabled again", async (t) => {
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
      }),
    )
    await eventually(async () => { assert.equal(await accepts(authenticateKey, secret), isActive) })
  }
  await setActive(false)
  await setActive(true)
  await world.stop()
  t.pass()
})

test("another user's token is unknown and stays unchanged", async (t) => {
  const { tokens, token, secret, caller, authenticateKey, register } = await startWithToken(t)
  const bob = callerOf(await register('Bob'))
  const unknown = E.left({ _tag: 'ApiTokenNotFound' })
  for (const id of [token.id, token.id + 1, 0, -1, Infinity]) {
    t.deepEqual(await tokens.revokeToken(bob, id), unknown)
    t.deepEqual(await tokens.changeToken(bob, id, { isActive: false }), unknown)
  }
  t.deepEqual(right(await tokens.listTokens(bob.userId, everything)), { items: [], total: 0 })
  t.true(await accepts(authenticateKey, secret))
  t.deepEqual(right(await tokens.listTokens(caller.userId, everything)).items.map(({ isActive }) => isActive), [true])
})
