import { createHash, createHmac, randomBytes } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { v7 } from 'uuid'
import type { Credentials, ShownJwt } from '../../../application/ports/credentials.ts'

export interface TestCredentials extends Credentials {
  /** The hash of each call of verifyPassword so far; none for an unknown user. */
  readonly verifications: ReadonlyArray<O.Option<string>>
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const hashOf = (password: string): string => `hash of ${password}`

/** Credentials without the cost of hashing: insecure, but a wrong password, token or JWT is still refused. */
export const createTestCredentials = (): TestCredentials => {
  const verifications: Array<O.Option<string>> = []
  return {
    verifications,
    hashPassword: async (password) => E.right(hashOf(password.normalize('NFC'))),
    verifyPassword: async (password, passwordHash) => {
      verifications.push(passwordHash)
      const hashes = [password.normalize('NFC'), password].map(hashOf)
      return E.right(O.isSome(passwordHash) && hashes.includes(passwordHash.value.replace('old ', '')))
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
