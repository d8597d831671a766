import type { Option } from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'

export interface JwtClaims {
  readonly userId: number
  /** The user's generation when the token was issued. The event that ends all logins of a user begins the next one. */
  readonly generation: number
}

/** A valid login token from a request. */
export interface ShownJwt extends JwtClaims {
  /** The unique `jti` of the token. */
  readonly tokenId: string
  /** The `exp` of the token, in seconds since 1970. */
  readonly expiresAt: number
}

/** The request was refused, because four passwords are being hashed and a hundred more wait. */
export interface TooBusy {
  readonly _tag: 'TooBusy'
}

export interface NewApiToken {
  /** `lt_`, 12 base62 characters, `_`, and 43 base62 characters with 256 random bits. */
  readonly secret: string
  /** The public first 15 characters of the secret. */
  readonly prefix: string
  /** SHA-256 of the whole secret, base64url. */
  readonly hash: string
}

export type KeyedHashPurpose =
  | 'username' | 'login-place' | 'live-token' | 'audio-url' | 'setup-token' | 'idempotency-key' | 'create-request'
  | 'create-command'

export interface Credentials {
  /** argon2id, m=19456 KiB, t=2, p=1, as a PHC string. Hashes the NFC form of the password. */
  readonly hashPassword: (password: string) => Promise<Either<TooBusy, string>>
  /**
   * Compares the NFC form of the password and, if it differs, the password as it was sent. Takes equally long without a
   * `passwordHash`, so response times do not reveal which users exist.
   */
  readonly verifyPassword: (password: string, passwordHash: Option<string>) => Promise<Either<TooBusy, boolean>>
  /** True when the hash was made with lower cost parameters than new hashes. */
  readonly isOutdated: (passwordHash: string) => boolean
  /** HS256, valid for JWT_TTL. */
  readonly signJwt: (claims: JwtClaims) => Promise<string>
  /** Returns none for an invalid or expired token. */
  readonly verifyJwt: (token: string) => Promise<Option<ShownJwt>>
  readonly newApiToken: () => NewApiToken
  /** Compares in constant time. Takes equally long without a hash. */
  readonly verifyApiToken: (secret: string, hash: Option<string>) => boolean
  /** HMAC-SHA-256, base64url, under a key from the master key. Each `purpose` has its own hashes. */
  readonly keyedHash: (purpose: KeyedHashPurpose, value: string) => string
}
