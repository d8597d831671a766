import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { CreateLiveOnce } from '../../../application/lives/commands/create-live-once.ts'
import { limitTokenGuesses } from '../../../interfaces/http/clients/limit-token-guesses.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { callerOf, requestOf } from '../../support/worlds/write-side.ts'

const TOO_MANY = 'TooManyRequests'

/** The token `theirs` belongs to another user. All other requests name a model that does not exist. */
const start = () => {
  const { monotonic, advance } = createManualTimers()
  const create: CreateLiveOnce = (_, { listenerToken }) =>
    Promise.resolve(E.left({ _tag: listenerToken === 'theirs' ? 'ListenerTokenTaken' : 'ModelNotFound' } as const))
  const limited = limitTokenGuesses({ monotonic }, create)
  const ask = async (listenerToken: string | null, userId = 1): Promise<string> => {
    const answer = await limited(callerOf(userId), requestOf({ listenerToken }), null)
    return E.isLeft(answer) ? answer.left._tag : 'created'
  }
  return { advance, ask }
}

test('after 30 listener tokens of others in a minute, a user gets 429 for every chosen token', async (t) => {
  const { advance, ask } = start()
  for (let n = 0; n < 30; n += 1)
    t.deepEqual([await ask('free'), await ask('theirs')], ['ModelNotFound', 'ListenerTokenTaken'])
  t.deepEqual([await ask('theirs'), await ask('free')], [TOO_MANY, TOO_MANY])
  t.is(await ask(null), 'ModelNotFound', 'a create without a chosen token is not affected')
  t.is(await ask('theirs', 2), 'ListenerTokenTaken', 'each user has a limit')
  advance(60_000)
  t.is(await ask('theirs'), 'ListenerTokenTaken')
})

test('tokens that are tried at the same time reveal no more than 30 taken ones', async (t) => {
  const { ask } = start()
  const taken = await Promise.all(Array.from({ length: 40 }, () => ask('theirs')))
  t.is(taken.filter((tag) => tag === 'ListenerTokenTaken').length, 30)
  t.is(taken.filter((tag) => tag === TOO_MANY).length, 10)
  const { ask: again } = start()
  const mixed = await Promise.all(Array.from({ length: 80 }, (_, n) => again(n < 40 ? 'theirs' : 'free')))
  t.deepEqual([...new Set(mixed.slice(30))], [TOO_MANY], 'a free token cannot be told from a taken one either')
})
