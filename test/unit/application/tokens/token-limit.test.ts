import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { sendToToken } from '../../../../application/log/send-to.ts'
import { systemTimers } from '../../../../infrastructure/process/system-timers.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, startTokenWorld, tokenCommands } from '../../../support/worlds/token-world.ts'

const ci = { name: 'ci', expiresAt: null }

for (const state of ['current', 'still empty'] as const)
  test(`a user has at most a hundred API tokens, while the read models are ${state}`, async (t) => {
    const world = await startTokenWorld(t)
    const lists = state === 'current' ? {} : { tokenIdsOf: async () => E.right([]) }
    const tokens = tokenCommands({ ...world, ...lists, timers: systemTimers, tokens: world.tokenDirectory })
    const caller = callerOf(await world.register('Ada'))
    const answers = await Promise.all(Array.from({ length: 130 }, () => tokens.issueToken(caller, ci)))
    t.is(answers.filter(E.isRight).length, 100)
    for (const refused of answers.filter(E.isLeft))
      t.deepEqual(refused.left, { _tag: 'TooManyApiTokens', maximum: 100 })
    t.true(
      E.isRight(await tokens.issueToken(callerOf(await world.register('Bob')), ci)),
      'the limit is counted for each user',
    )
    const [first] = answers.flatMap((answer) => (E.isRight(answer) ? [answer.right.token.id] : []))
    right(await tokens.revokeToken(caller, first ?? 0))
    t.true(E.isRight(await tokens.issueToken(caller, ci)))
    t.deepEqual(await tokens.issueToken(caller, ci), E.left({ _tag: 'TooManyApiTokens', maximum: 100 }))
  })

test('a set of tokens above the limit can be used, changed and reduced', async (t) => {
  const world = await startTokenWorld(t)
  const { store, keyring, environment, tokens, tokenIdsOf, authenticateKey, credentials } = world
  const userId = await world.register('Ada')
  const send = sendToToken({ store, keyring, environment, timers: systemTimers })
  const secrets: Array<string> = []
  for (let tokenId = 1001; tokenId <= 1105; tokenId += 1) {
    const { secret, prefix, hash } = credentials.newApiToken()
    secrets.push(secret)
    const data = { tokenId, userId, name: 'old', prefix, secretHash: hash, expiresAt: null }
    const origin = { commandId: environment.newId(), correlationId: 'c', actor: 'test' }
    right(await send(tokenId, { type: 'Issue', data }, origin))
  }
  await eventually(async () => assert.equal(right(await tokenIdsOf(userId)).length, 105))
  const caller = callerOf(userId)
  t.true(O.isSome(right(await authenticateKey(secrets[104] ?? ''))))
  t.like(right(await tokens.changeToken(caller, 1105, { name: 'newer' })), { name: 'newer' })
  for (let tokenId = 1001; tokenId <= 1005; tokenId += 1) {
    t.true(E.isLeft(await tokens.issueToken(caller, ci)))
    right(await tokens.revokeToken(caller, tokenId))
  }
  t.true(E.isLeft(await tokens.issueToken(caller, ci)))
  right(await tokens.revokeToken(caller, 1006))
  t.true(E.isRight(await tokens.issueToken(caller, ci)))
})
