import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { after } from '../../../support/events/sample-events.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { startTokenWorld } from '../../../support/worlds/token-world.ts'
import { accepts, ci, everything, startWithToken } from './token-owner.ts'

test('uses are recorded at most once a minute, and the token shows the last one', async (t) => {
  const { authenticateKey, tokens, caller, token, secret, uses, setClock, environment, usesInLog } =
    await startWithToken(t)
  let now = 0
  t.is(right(await tokens.listTokens(caller.userId, everything)).items[0]?.lastUsedAt, null)
  const useAfter = async (milliseconds: number, times: number): Promise<void> => {
    now += milliseconds
    setClock(after(now))
    environment.advance(milliseconds)
    for (let n = 0; n < times; n++) t.true(await accepts(authenticateKey, secret))
    await uses.settled()
  }
  const shows = (at: string) => eventually(async () => {
    assert.equal(right(await tokens.listTokens(caller.userId, everything)).items[0]?.lastUsedAt, at)
  })
  await useAfter(0, 20)
  await shows(after(0))
  await useAfter(59_999, 20)
  t.deepEqual(await usesInLog(), [after(0)])
  await useAfter(1, 20)
  await shows(after(60_000))
  t.deepEqual(await usesInLog(), [after(60_000)], 'only the newest use is stored')
  t.is(right(await tokens.changeToken(caller, token.id, { name: 'renamed' })).lastUsedAt, after(60_000))
})

test('a refused token records no use', async (t) => {
  const { authenticateKey, tokens, caller, token, secret, uses, usesInLog } = await startWithToken(t)
  await authenticateKey(`${secret.slice(0, 16)}${'x'.repeat(43)}`)
  right(await tokens.changeToken(caller, token.id, { isActive: false }))
  await authenticateKey(secret)
  await uses.settled()
  t.deepEqual(await usesInLog(), [])
})

test('a token is accepted even if its use cannot be recorded, and the next use is recorded', async (t) => {
  const inner = createMemoryEventStore()
  let isUnavailable = false
  const append: EventStore['append'] = async (stream, ...rest) =>
    isUnavailable && stream.startsWith('token-use-')
      ? E.left({ _tag: 'StoreUnavailable', reason: 'simulated' })
      : inner.append(stream, ...rest)
  const { authenticateKey, secret, uses, logger, usesInLog } = await startWithToken(t, { store: { ...inner, append } })
  isUnavailable = true
  t.true(await accepts(authenticateKey, secret))
  await uses.settled()
  t.true(logger.lines.some(({ message }) => message.includes('could not be recorded')))
  t.deepEqual(await usesInLog(), [])
  isUnavailable = false
  t.true(await accepts(authenticateKey, secret))
  await uses.settled()
  t.is((await usesInLog()).length, 1)
})

test('after a restart tokens, their states and uses are unchanged', async (t) => {
  const [store, keyring] = [createMemoryEventStore(), createMemoryKeyring()]
  const first = await startWithToken(t, { store, keyring })
  first.setClock(after(0))
  t.true(await accepts(first.authenticateKey, first.secret))
  const off = right(await first.tokens.issueToken(first.caller, ci))
  right(await first.tokens.changeToken(first.caller, off.token.id, { isActive: false }))
  const gone = right(await first.tokens.issueToken(first.caller, ci))
  right(await first.tokens.revokeToken(first.caller, gone.token.id))
  await first.stop()

  const { authenticateKey, tokens, uses, setClock } = await startTokenWorld(t, { store, keyring })
  setClock(after(30_000))
  t.true(await accepts(authenticateKey, first.secret))
  await uses.settled()
  t.deepEqual([await accepts(authenticateKey, off.secret), await accepts(authenticateKey, gone.secret)], [false, false])
  t.deepEqual(await uses.lastUseOf(first.token.id), E.right(after(0)))
  t.deepEqual(
    right(await tokens.listTokens(first.caller.userId, everything)).items.map(({ id }) => id),
    [off.token.id, first.token.id],
  )
  t.true(right(await tokens.issueToken(first.caller, ci)).token.id > gone.token.id)
})
