import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import type { Credentials } from '../../../application/ports/credentials.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import { createTestCredentials } from '../../support/doubles/credentials.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { rightOf } from '../../support/tools/right.ts'

const credentialsContract = (name: string, credentials: Credentials): void => {
  test(`${name}: a password matches its own hash only`, async (t) => {
    const hash = await rightOf(credentials.hashPassword('correct horse'))
    t.true(await rightOf(credentials.verifyPassword('correct horse', O.some(hash))))
    t.false(await rightOf(credentials.verifyPassword('wrong horse', O.some(hash))))
    t.false(await rightOf(credentials.verifyPassword('correct horse', O.none)))
    t.false(credentials.isOutdated(hash))
  })

  test(`${name}: a password matches however the device encodes its accents`, async (t) => {
    const [composed, decomposed] = ['Grüße, Zoë', 'Gru\u0308ße, Zoe\u0308']
    for (const chosen of [composed, decomposed]) {
      const hash = await rightOf(credentials.hashPassword(chosen))
      for (const typed of [composed, decomposed])
        t.true(await rightOf(credentials.verifyPassword(typed, O.some(hash))), JSON.stringify([chosen, typed]))
      t.false(await rightOf(credentials.verifyPassword('Gruße, Zoe', O.some(hash))))
    }
  })

  test(`${name}: a JWT carries its claims and its own token id; any other text is refused`, async (t) => {
    const claims = { userId: 7, generation: 3 }
    const jwts = [await credentials.signJwt(claims), await credentials.signJwt(claims)]
    const [first, second] = await Promise.all(jwts.map((jwt) => credentials.verifyJwt(jwt)))
    t.like(O.toNullable(first ?? O.none), claims)
    t.not(O.toNullable(first ?? O.none)?.tokenId, O.toNullable(second ?? O.none)?.tokenId)
    t.deepEqual(await credentials.verifyJwt('not a JWT'), O.none)
  })

  test(`${name}: an API token matches its own hash only and starts with its prefix`, (t) => {
    const [token, other] = [credentials.newApiToken(), credentials.newApiToken()]
    t.regex(token.secret, /^lt_/)
    t.true(token.secret.startsWith(token.prefix) && token.prefix.length < token.secret.length)
    t.true(credentials.verifyApiToken(token.secret, O.some(token.hash)))
    t.false(credentials.verifyApiToken(token.secret, O.some(other.hash)))
    t.false(credentials.verifyApiToken(token.secret, O.none))
  })

  test(`${name}: a keyed hash depends on its purpose and its value only`, (t) => {
    const hash = credentials.keyedHash('live-token', 'a')
    t.is(credentials.keyedHash('live-token', 'a'), hash)
    t.not(credentials.keyedHash('live-token', 'b'), hash)
    t.not(credentials.keyedHash('audio-url', 'a'), hash)
  })
}

credentialsContract('double', createTestCredentials())
credentialsContract(
  'adapter',
  createCredentials({
    masterKey: Buffer.alloc(32, 7),
    jwtTtlSeconds: 3600,
    environment: { ...createTestEnvironment(), now: () => new Date().toISOString() },
  }),
)

test('the double keeps the hash of each password check', async (t) => {
  const credentials = createTestCredentials()
  await credentials.verifyPassword('a', O.none)
  await credentials.verifyPassword('a', O.some('old hash of a'))
  t.deepEqual(credentials.verifications, [O.none, O.some('old hash of a')])
  t.true(credentials.isOutdated('old hash of a'))
})
