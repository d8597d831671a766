import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

export interface JwtClaims {
  readonly userId: number
  /** The user's credential generation when the token was issued. */
  readonly generation: number
}

/** A login token that was shown. */
export interface ShownJwt extends JwtClaims {
  /** Its `jti`: no two tokens have the same. */
  readonly tokenId: string
  /** Seconds since 1970, its `exp`. */
  readonly expiresAt: number
}

/** At most four passwords are hashed at once and a hundred wait (S13): one more is refused. */
export interface TooBusy {
  readonly _tag: 'TooBusy'
}

export interface NewApiToken {
  /** `lt_` + 12 base62 characters + `_` + 43 more, which are 256 random bits. */
  readonly secret: string
  /** Its first 15 characters, which are public. */
  readonly prefix: string
  /** SHA-256 of the whole secret, base64url. */
  readonly hash: string
}

export type KeyedHashPurpose =
  | 'username' | 'login-place' | 'live-token' | 'audio-url' | 'setup-token' | 'idempotency-key' | 'create-request'

export interface Credentials {
  /** argon2id, m=19456 KiB, t=2, p=1, as a PHC string. */
  readonly hashPassword: (password: string) => TaskEither<TooBusy, string>
  /** Also takes the time of a hash when `passwordHash` is none, so that unknown users cannot be told by time. */
  readonly verifyPassword: (password: string, passwordHash: Option<string>) => TaskEither<TooBusy, boolean>
  /** Whether a hash that `hashPassword` once made costs less than one of today. */
  readonly isOutdated: (passwordHash: string) => boolean
  /** HS256, with the life of JWT_TTL. */
  readonly signJwt: (claims: JwtClaims) => Promise<string>
  /** None for anything but a valid token of ours. */
  readonly verifyJwt: (token: string) => Promise<Option<ShownJwt>>
  readonly newApiToken: () => NewApiToken
  /** Whether the secret has this hash, compared in constant time; it takes as long where there is none to compare with. */
  readonly verifyApiToken: (secret: string, hash: Option<string>) => boolean
  /** HMAC-SHA-256 under a key derived from the master key, base64url; `purpose` keeps kinds apart. */
  readonly keyedHash: (purpose: KeyedHashPurpose, value: string) => string
}
