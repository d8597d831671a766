import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Credentials, ShownJwt, TooBusy } from '../../application/ports/credentials.ts'
import type { Environment } from '../../application/ports/environment.ts'
import { createEnvironment } from '../process/clock-and-ids.ts'
import { deriveKey } from './master-key.ts'

const ISSUER = 'stenolog'
const CLOCK_TOLERANCE_SECONDS = 5
const MAX_PASSWORD_BYTES = 1024
const MAX_CONCURRENT_HASHES = 4
const MAX_WAITING_HASHES = 100

/** `Algorithm.Argon2id` of the package. The const enum itself does not exist at run time after type stripping. */
const ARGON2ID = 2
/** The second configuration that OWASP recommends for argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Whether the token has our encoding. This excludes duplicate claims, which parsers read in different ways. */
const isOurEncoding = (token: string, payload: unknown): boolean =>
  Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() === JSON.stringify(payload)

/** Creates a queue. Up to `maxRunning` tasks run at once, up to `maxWaiting` tasks wait, further tasks are refused. */
const createQueue = (maxRunning: number, maxWaiting: number) => {
  const waiting: Array<() => void> = []
  let running = 0
  return async <A>(task: () => Promise<A>): Promise<Either<TooBusy, A>> => {
    if (running >= maxRunning && waiting.length >= maxWaiting) return E.left({ _tag: 'TooBusy' })
    if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve))
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

const randomBase64 = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '')

/** A hash that no password matches. Verifying it costs as much as verifying a real hash. */
const unmatchableHash = (): string =>
  `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=${PARAMETERS.timeCost},p=${PARAMETERS.parallelism}$${randomBase64(16)}$`
  + randomBase64(32)

/** Type, version, memory, time and lanes of a hash in the PHC string format. */
const PHC_STRING = /^\$(argon2\w+)\$v=(\d+)\$m=(\d+),t=(\d+),p=(\d+)\$/

/** Whether a parameter of a password hash is weaker than ours. False for unreadable hashes. */
const isOutdated = (passwordHash: string): boolean => {
  const [, type, version, memory, time, lanes] = PHC_STRING.exec(passwordHash) ?? []
  if (type === undefined) return false
  const { memoryCost, timeCost, parallelism } = PARAMETERS
  const isCheaper = Number(memory) < memoryCost || Number(time) < timeCost || Number(lanes) < parallelism
  return type !== 'argon2id' || Number(version) < 19 || isCheaper
}

/**
 * The forms of a password that its hash may have been made from: NFC, and the characters as they were sent. Devices
 * encode accents in different ways, and older versions hashed what was sent.
 */
const hashedForms = (password: string): ReadonlySet<string> => new Set([password.normalize('NFC'), password])

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random characters with a uniform distribution. */
const randomBase62 = (length: number): string =>
  Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('')

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
  /** Epoch of the last restore of the log: logins of another epoch are invalid. Null: the log was never restored. */
  readonly epoch?: string | null
  readonly environment?: Pick<Environment, 'now' | 'newId'>
  /** Compares a PHC string with a password. */
  readonly verifyHash?: (passwordHash: string, password: string) => Promise<boolean>
}

/** Hashes passwords with argon2id and signs tokens with HMAC. All keys derive from the master key. */
export const createCredentials = (options: CredentialsOptions): Credentials => {
  const { masterKey, jwtTtlSeconds, epoch = null, environment = createEnvironment(), verifyHash = verify } = options
  const jwtKey = deriveKey(masterKey, 'jwt', epoch)
  const hmacKey = deriveKey(masterKey, 'hmac')
  const queue = createQueue(MAX_CONCURRENT_HASHES, MAX_WAITING_HASHES)
  const dummyHash = unmatchableHash()
  const now = (): Date => new Date(environment.now())
  const isShortEnough = (password: string): boolean => Buffer.byteLength(password) <= MAX_PASSWORD_BYTES

  return {
    hashPassword: (password) => {
      if (!isShortEnough(password)) throw new RangeError(`a password has at most ${MAX_PASSWORD_BYTES} bytes`)
      return queue(() => hash(password.normalize('NFC'), PARAMETERS))
    },
    verifyPassword: (password, passwordHash) => {
      const isShort = isShortEnough(password)
      const hasHash = isShort && O.isSome(passwordHash)
      return queue(async () => {
        let matches = false
        // Every form is compared, also after a match, so the time depends only on what was sent.
        for (const form of hashedForms(isShort ? password : ''))
          if (await verifyHash(hasHash ? passwordHash.value : dummyHash, form)) matches = true
        return hasHash && matches
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
        return isOurEncoding(token, payload) ? toClaims(payload) : O.none
      } catch (error) {
        if (error instanceof errors.JOSEError) return O.none
        throw error
      }
    },
    newApiToken: () => {
      const prefix = `lt_${randomBase62(12)}`
      const secret = `${prefix}_${randomBase62(43)}`
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
