import { createHash, createHmac, randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { v7 } from 'uuid'
import type { Credentials, ShownJwt } from '../../../application/ports/credentials.ts'
import type { Environment, Logger } from '../../../application/ports/environment.ts'

export interface TestEnvironment extends Environment {
  /** Moves the monotonic clock, which stands still otherwise. */
  readonly advance: (milliseconds: number) => void
}

/** Real ids and secrets; a wall clock that ticks a microsecond an answer. */
export const createTestEnvironment = (): TestEnvironment => {
  let monotonic = 0
  let microseconds = 0
  return {
    now: () => `2026-11-21T09:30:00.${String((microseconds += 1)).padStart(6, '0')}+00:00`,
    monotonic: () => monotonic,
    newId: () => v7(),
    newSecret: () => randomBytes(32).toString('base64url'),
    random: () => 0.5,
    correlationId: () => null,
    instance: v7(),
    advance: (milliseconds) => {
      monotonic += milliseconds
    },
  }
}

export interface TestCredentials extends Credentials {
  /** What verifyPassword was asked so far: a hash, or none. */
  readonly verifications: ReadonlyArray<O.Option<string>>
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The port without its cost: nothing here is safe, all of it tells right from wrong. */
export const createTestCredentials = (): TestCredentials => {
  const verifications: Array<O.Option<string>> = []
  return {
    verifications,
    hashPassword: (password) => async () => E.right(`hash of ${password}`),
    verifyPassword: (password, passwordHash) => async () => {
      verifications.push(passwordHash)
      return E.right(O.isSome(passwordHash) && passwordHash.value.replace('old ', '') === `hash of ${password}`)
    },
    isOutdated: (passwordHash) => passwordHash.startsWith('old '),
    signJwt: (claims) => Promise.resolve(JSON.stringify({ ...claims, tokenId: v7(), expiresAt: 1_900_000_000 })),
    verifyJwt: (token) => Promise.resolve(token.startsWith('{') ? O.some(JSON.parse(token) as ShownJwt) : O.none),
    newApiToken: () => {
      const letters = randomBytes(28).toString('hex').slice(0, 55)
      const secret = `lt_${letters.slice(0, 12)}_${letters.slice(12)}`
      return { secret, prefix: secret.slice(0, 15), hash: digest(secret) }
    },
    verifyApiToken: (secret, hash) => O.isSome(hash) && hash.value === digest(secret),
    keyedHash: (purpose, value) => createHmac('sha256', purpose).update(value).digest('base64url'),
  }
}

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
