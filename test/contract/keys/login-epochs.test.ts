import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'

const masterKey = Buffer.alloc(32, 7)

test('a restore ends all logins: each epoch signs with another key, and without one it is the old key', async (t) => {
  const inEpoch = (epoch: string | null) => createCredentials({ masterKey, jwtTtlSeconds: 3600, epoch })
  const tokens = await Promise.all([null, 'first', 'second'].map(async (epoch) =>
    [epoch, await inEpoch(epoch).signJwt({ userId: 7, generation: 2 })] as const))
  for (const [epoch, token] of tokens) {
    const accepting = await Promise.all([null, 'first', 'second'].map(async (other) =>
      (O.isSome(await inEpoch(other).verifyJwt(token)) ? [other] : [])))
    t.deepEqual(accepting.flat(), [epoch])
  }
  const earlier = createCredentials({ masterKey, jwtTtlSeconds: 3600 })
  t.true(O.isSome(await earlier.verifyJwt(tokens[0]?.[1] ?? '')))
})
