import { createHash, createHmac, randomBytes } from 'node:crypto'
import { hash as argon2 } from '@node-rs/argon2'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { SignJWT, type JWTPayload } from 'jose'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import { deriveKey } from '../../../infrastructure/keys/master-key.ts'
import { right } from '../../support/tools/right.ts'

const masterKey = Buffer.alloc(32, 7)
const jwtKey = deriveKey(masterKey, 'jwt')
const NOON = Date.parse('2026-11-21T12:00:00Z') / 1000

const credentialsAt = (seconds: number) => {
  const environment = { now: () => new Date((NOON + seconds) * 1000).toISOString(), newId: () => 'a-token-id' }
  return createCredentials({ masterKey, jwtTtlSeconds: 3600, environment })
}

test('a password matches its own argon2id hash and no other', async (t) => {
  const credentials = credentialsAt(0)
  const hash = right(await credentials.hashPassword('correct horse 🐎'))
  t.regex(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(right(await credentials.hashPassword('correct horse 🐎')), hash)
  t.true(right(await credentials.verifyPassword('correct horse 🐎', O.some(hash))))
  t.false(right(await credentials.verifyPassword('correct horse', O.some(hash))))
  t.false(right(await credentials.verifyPassword('', O.some(hash))))
  t.false(right(await credentials.verifyPassword('correct horse 🐎', O.none)))
})

test('a hash that an older version made from decomposed accents still matches the same input', async (t) => {
  const decomposed = 'Zoe\u0308 and friends'
  const oldHash = await argon2(decomposed, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const credentials = credentialsAt(0)
  t.true(right(await credentials.verifyPassword(decomposed, O.some(oldHash))))
  t.false(right(await credentials.verifyPassword('Zoë and friends', O.some(oldHash))), 'that hash has no other form')
})

test('a password check takes as many comparisons for an unknown user as for a known one', async (t) => {
  const compared = async (password: string, passwordHash: O.Option<string>) => {
    const forms: Array<string> = []
    const verifyHash = (_: string, form: string) => Promise.resolve(forms.push(form) > 0 && form === 'Zoë')
    const credentials = createCredentials({ masterKey, jwtTtlSeconds: 3600, verifyHash })
    return [right(await credentials.verifyPassword(password, passwordHash)), forms.length]
  }
  t.deepEqual(await compared('Zoe\u0308', O.some('hash')), [true, 2])
  t.deepEqual(await compared('Zoe\u0308', O.none), [false, 2])
  t.deepEqual(await compared('Zoa\u0308', O.some('hash')), [false, 2])
  t.deepEqual(await compared('Zoë', O.some('hash')), [true, 1])
  t.deepEqual(await compared('Zoë', O.none), [false, 1])
})

test('a password over 1024 bytes is never hashed and never matches', async (t) => {
  const credentials = credentialsAt(0)
  const longest = '€'.repeat(341)
  const longerInNfc = '\u0958'.repeat(341)
  t.true(E.isRight(await credentials.hashPassword(longerInNfc)), 'bytes count as they were sent')
  const hash = right(await credentials.hashPassword(longest))
  t.true(right(await credentials.verifyPassword(longest, O.some(hash))))
  t.throws(() => credentials.hashPassword(`${longest}ab`), { instanceOf: RangeError })
  t.false(right(await credentials.verifyPassword(`${longest}ab`, O.some(hash))))
})

test('a hash is outdated when any parameter is below the current one', async (t) => {
  const credentials = credentialsAt(0)
  const isOutdated = (parameters: string): boolean => credentials.isOutdated(`$${parameters}$c2FsdHNhbHQ$aGFzaA`)
  t.false(credentials.isOutdated(right(await credentials.hashPassword('right'))))
  for (const weak of [
    'argon2id$v=19$m=19455,t=2,p=1',
    'argon2id$v=19$m=65536,t=1,p=1',
    'argon2id$v=16$m=19456,t=2,p=1',
    'argon2i$v=19$m=19456,t=2,p=1',
  ])
    t.true(isOutdated(weak), weak)
  for (const fine of ['argon2id$v=19$m=65536,t=3,p=4', '', '2b$10']) t.false(isOutdated(fine), fine)
})

test('all of many concurrent password checks are answered', async (t) => {
  const credentials = credentialsAt(0)
  const hash = right(await credentials.hashPassword('right'))
  const tries = Array.from({ length: 12 }, (_, n) =>
    credentials.verifyPassword(n % 2 === 0 ? 'right' : 'wrong', O.some(hash)),
  )
  const broken = credentials.verifyPassword('right', O.some('no hash at all'))
  await t.throwsAsync(broken)
  t.deepEqual((await Promise.all(tries)).map(right), Array.from({ length: 12 }, (_, n) => n % 2 === 0))
})

test('four passwords are hashed at once, a hundred wait, and further ones are refused', async (t) => {
  const credentials = credentialsAt(0)
  const tries = Array.from({ length: 120 }, () => credentials.verifyPassword('guess', O.none))
  const answers = await Promise.all(tries)
  t.deepEqual(answers.slice(0, 104), Array.from({ length: 104 }, () => E.right(false)))
  t.deepEqual(answers.slice(104), Array.from({ length: 16 }, () => E.left({ _tag: 'TooBusy' })))
  t.deepEqual(await credentials.verifyPassword('guess', O.none), E.right(false), 'a further check is accepted again')
})

test('a token of this service returns its claims until it expires, with five seconds of tolerance', async (t) => {
  const claims = { userId: 42, generation: 3 }
  const token = await credentialsAt(0).signJwt(claims)
  t.deepEqual(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()), {
    iss: 'stenolog',
    sub: '42',
    iat: NOON,
    exp: NOON + 3600,
    jti: 'a-token-id',
    gen: 3,
  })
  const verified = { ...claims, tokenId: 'a-token-id', expiresAt: NOON + 3600 }
  t.deepEqual(await credentialsAt(0).verifyJwt(token), O.some(verified))
  t.deepEqual(await credentialsAt(3604).verifyJwt(token), O.some(verified))
  t.deepEqual(await credentialsAt(3606).verifyJwt(token), O.none)
})

const CLAIMS = { iss: 'stenolog', sub: '42', iat: NOON, exp: NOON + 60, jti: 'j', gen: 0 }

const sign = (payload: JWTPayload, header: Record<string, unknown> = {}, key: Uint8Array = jwtKey): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'HS256', ...header }).sign(key)

const without = (claim: keyof typeof CLAIMS): JWTPayload =>
  Object.fromEntries(Object.entries(CLAIMS).filter(([name]) => name !== claim))

test('only a complete token of this service is accepted', async (t) => {
  const credentials = credentialsAt(0)
  t.deepEqual(
    await credentials.verifyJwt(await sign(CLAIMS)),
    O.some({ userId: 42, generation: 0, tokenId: 'j', expiresAt: NOON + 60 }),
  )
  const body = Buffer.from(JSON.stringify(CLAIMS)).toString('base64url')
  const good = await sign(CLAIMS)
  const bad = [
    '',
    'a.b.c',
    good.slice(0, -2),
    `${good}x`,
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.`,
    await sign(CLAIMS, {}, randomBytes(32)),
    await sign(CLAIMS, { alg: 'HS512' }),
    await sign(CLAIMS, { crit: ['exp'], exp: 1 }).catch(() => 'cannot be signed'),
    await sign({ ...CLAIMS, iss: 'other' }),
    await sign({ ...CLAIMS, exp: NOON - 6 }),
    await sign({ ...CLAIMS, nbf: NOON + 60 }),
    ...(await Promise.all((['iss', 'sub', 'iat', 'exp', 'jti', 'gen'] as const).map((claim) => sign(without(claim))))),
    ...(await Promise.all(
      ['0', '-1', '1.5', '042', 'x', '', '9007199254740993'].map((sub) => sign({ ...CLAIMS, sub })),
    )),
    ...(await Promise.all([-1, 0.5, '0', null].map((gen) => sign({ ...CLAIMS, gen })))),
  ]
  for (const token of bad) t.deepEqual(await credentials.verifyJwt(token), O.none, token)
})

/** Signs any header with HMAC-SHA256. The library `jose` refuses to sign most of these headers. */
const forge = (header: unknown, payload: string, key: Uint8Array): string => {
  const text = [JSON.stringify(header), payload].map((part) => Buffer.from(part).toString('base64url')).join('.')
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

test('header keys and key URLs are ignored; other algorithms and duplicate claims are refused', async (t) => {
  const credentials = credentialsAt(0)
  const key = randomBytes(32)
  const k = key.toString('base64url')
  const good = JSON.stringify(CLAIMS)
  t.true(
    O.isSome(await credentials.verifyJwt(forge({ alg: 'HS256' }, good, jwtKey))),
    'the unchanged token is valid; each token below differs in one detail',
  )
  const headers = [
    { jwk: { kty: 'oct', k } },
    { kid: 'mine' },
    { kid: '../../../../dev/null' },
    { kid: "x' UNION SELECT 'a" },
    { jku: 'http://127.0.0.1/keys' },
    { x5u: 'http://127.0.0.1/cert' },
    { x5c: [k] },
  ]
  for (const header of headers) {
    t.deepEqual(
      await credentials.verifyJwt(forge({ alg: 'HS256', ...header }, good, key)),
      O.none,
      JSON.stringify(header),
    )
    t.deepEqual(
      await credentials.verifyJwt(forge({ alg: 'HS256', ...header }, good, new Uint8Array(0))),
      O.none,
      'an empty key',
    )
  }
  for (const alg of ['none', 'None', 'RS256', 'ES256', 'HS512', 'HS384', 'dir', '', 256, null])
    t.deepEqual(await credentials.verifyJwt(forge({ alg }, good, jwtKey)), O.none, String(alg))
  t.deepEqual(await credentials.verifyJwt(forge({ alg: 'HS256', crit: ['x'], x: 1 }, good, jwtKey)), O.none)
  for (const duplicated of [
    good.replace('{', '{"sub":"1",'),
    good.replace('}', ',"exp":1,"exp":99999999999}'),
    good.replace('}', ',"gen":0}'),
    ` ${good}`,
  ])
    t.deepEqual(await credentials.verifyJwt(forge({ alg: 'HS256' }, duplicated, jwtKey)), O.none, duplicated)
  for (const exp of ['"99999999999"', '1e999', 'null', '[99999999999]', 'true'])
    t.deepEqual(
      await credentials.verifyJwt(forge({ alg: 'HS256' }, good.replace(/"exp":\d+/, `"exp":${exp}`), jwtKey)),
      O.none,
      exp,
    )
  t.deepEqual(await credentials.verifyJwt(`${forge({ alg: 'HS256' }, good, jwtKey)}.${'A'.repeat(1_000_000)}`), O.none)
})

test('an API token is lt_, then 12 and 43 random base62 characters; all tokens differ', (t) => {
  const credentials = credentialsAt(0)
  const tokens = Array.from({ length: 5000 }, () => credentials.newApiToken())
  for (const { secret, prefix, hash } of tokens.slice(0, 100)) {
    t.regex(secret, /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/)
    t.is(prefix, secret.slice(0, 15))
    t.is(hash, createHash('sha256').update(secret).digest('base64url'))
  }
  t.is(new Set(tokens.map(({ prefix }) => prefix)).size, 5000)
  const counts = new Map<string, number>()
  for (const letter of tokens.flatMap(({ secret }) => Array.from(secret.slice(16))))
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  // 3468 of each letter are expected. 3117 and 3819 are six standard deviations away.
  t.is(counts.size, 62)
  t.true([...counts.values()].every((count) => count > 3117 && count < 3819))
})

test('an API token matches only its own hash', (t) => {
  const credentials = credentialsAt(0)
  const [{ secret, hash }, other] = [credentials.newApiToken(), credentials.newApiToken()]
  t.true(credentials.verifyApiToken(secret, O.some(hash)))
  t.false(credentials.verifyApiToken(other.secret, O.some(hash)))
  t.false(credentials.verifyApiToken(secret.slice(0, -1), O.some(hash)))
  for (const broken of ['', 'x', hash.slice(0, -2), `${hash}AAAA`])
    t.false(credentials.verifyApiToken(secret, O.some(broken)), broken)
  t.false(credentials.verifyApiToken(secret, O.none))
})

test('keyed hashes depend on purpose, value and key', (t) => {
  const credentials = credentialsAt(0)
  const hash = credentials.keyedHash('username', 'alice')
  t.regex(hash, /^[A-Za-z0-9_-]{43}$/)
  t.is(hash, createHmac('sha256', deriveKey(masterKey, 'hmac')).update('username\0alice').digest('base64url'))
  const other = createCredentials({ masterKey: randomBytes(32), jwtTtlSeconds: 1 })
  t.is(
    new Set([
      hash,
      credentials.keyedHash('live-token', 'alice'),
      credentials.keyedHash('username', 'bob'),
      other.keyedHash('username', 'alice'),
    ]).size,
    4,
  )
})
