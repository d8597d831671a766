import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { SignJWT, errors, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'
import type { Credentials, ShownJwt, TooBusy } from '../../application/ports/credentials.ts'
import type { Environment } from '../../application/ports/environment.ts'
import { createEnvironment } from '../node/environment.ts'
import { deriveKey } from './master-key.ts'

const ISSUER = 'stenolog'
const CLOCK_TOLERANCE_SECONDS = 5
const MAX_PASSWORD_BYTES = 1024
const MAX_CONCURRENT_HASHES = 4
const MAX_WAITING_HASHES = 100

/** The package's `Algorithm.Argon2id`, a const enum that stripped types cannot reach. */
const ARGON2ID = 2
/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Whether a token's claims are written as we write them: one that names a claim twice is read differently by others (S9). */
const isWrittenAsOurs = (token: string, payload: unknown): boolean =>
  Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() === JSON.stringify(payload)

/** Runs at most `size` tasks at once, up to `places` others in the order in which they came, and refuses what is more. */
const createQueue = (size: number, places: number) => {
  const waiting: Array<() => void> = []
  let running = 0
  return <A>(task: () => Promise<A>): TaskEither<TooBusy, A> => async () => {
    if (running >= size && waiting.length >= places) return E.left({ _tag: 'TooBusy' })
    if (running >= size) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return E.right(await task())
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

const base64 = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '')

/** A hash that no password has, of the same cost as a real one. */
const unmatchableHash = (): string =>
  `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${base64(16)}$${base64(32)}`

/** Whether any parameter of a PHC string lies below today's; what cannot be read is no reason to hash. */
const isOutdated = (passwordHash: string): boolean => {
  const [, type, version, memory, time, lanes] = /^\$(argon2\w+)\$v=(\d+)\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(passwordHash) ?? []
  if (type === undefined) return false
  const { memoryCost, timeCost, parallelism } = PARAMETERS
  return type !== 'argon2id' || Number(version) < 19 || Number(memory) < memoryCost || Number(time) < timeCost || Number(lanes) < parallelism
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Every character as likely as any other. */
const base62 = (length: number): string => Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('')

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

const toClaims = ({ sub, jti, exp, gen: generation }: JWTPayload): O.Option<ShownJwt> => {
  const userId = /^[1-9]\d*$/.test(sub ?? '') ? Number(sub) : NaN
  if (!Number.isSafeInteger(userId) || !isCount(generation)) return O.none
  if (typeof jti !== 'string' || exp === undefined) return O.none
  return O.some({ userId, generation, tokenId: jti, expiresAt: exp })
}

interface CredentialsOptions {
  readonly masterKey: Uint8Array
  readonly jwtTtlSeconds: number
  readonly environment?: Pick<Environment, 'now' | 'newId'>
}

/** Passwords by argon2id, tokens by HMAC: every key derives from the master key. */
export const createCredentials = ({ masterKey, jwtTtlSeconds, environment = createEnvironment() }: CredentialsOptions): Credentials => {
  const jwtKey = deriveKey(masterKey, 'jwt')
  const hmacKey = deriveKey(masterKey, 'hmac')
  const queue = createQueue(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES)
  const dummy = unmatchableHash()
  const now = (): Date => new Date(environment.now())
  const fits = (password: string): boolean => Buffer.byteLength(password) <= MAX_PASSWORD_BYTES

  return {
    hashPassword: (password) => {
      if (!fits(password)) throw new RangeError(`a password has at most ${MAX_PASSWORD_BYTES} bytes`)
      return queue(() => hash(password, PARAMETERS))
    },
    verifyPassword: (password, passwordHash) => {
      const known = fits(password) && O.isSome(passwordHash)
      return queue(async () => {
        const matches = await verify(known ? passwordHash.value : dummy, fits(password) ? password : '')
        return known && matches
      })
    },
    isOutdated,
    signJwt: ({ userId, generation }) => {
      const issuedAt = Math.floor(now().getTime() / 1000)
      return new SignJWT({ gen: generation })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(String(userId))
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + jwtTtlSeconds)
        .setJti(environment.newId())
        .sign(jwtKey)
    },
    verifyJwt: async (token) => {
      try {
        const { payload } = await jwtVerify(token, jwtKey, {
          algorithms: ['HS256'],
          issuer: ISSUER,
          requiredClaims: ['sub', 'iat', 'exp', 'jti', 'gen'],
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: now(),
        })
        return isWrittenAsOurs(token, payload) ? toClaims(payload) : O.none
      } catch (error) {
        if (error instanceof errors.JOSEError) return O.none
        throw error
      }
    },
    newApiToken: () => {
      const prefix = `lt_${base62(12)}`
      const secret = `${prefix}_${base62(43)}`
      return { secret, prefix, hash: sha256(secret).toString('base64url') }
    },
    verifyApiToken: (secret, hash) => {
      const known = Buffer.from(O.isSome(hash) ? hash.value : '', 'base64url')
      const isHash = known.length === 32
      return timingSafeEqual(sha256(secret), isHash ? known : Buffer.alloc(32)) && isHash
    },
    keyedHash: (purpose, value) => createHmac('sha256', hmacKey).update(`${purpose}\0${value}`).digest('base64url'),
  }
}
