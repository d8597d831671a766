import type { Option } from 'fp-ts/lib/Option.js'

export interface JwtClaims {
  readonly userId: number
  /** The user's credential generation when the token was issued. */
  readonly generation: number
}

export interface Credentials {
  /** argon2id, m=19456 KiB, t=2, p=1, as a PHC string. */
  readonly hashPassword: (password: string) => Promise<string>
  /** Also takes the time of a hash when `passwordHash` is none, so that unknown users cannot be told by time. */
  readonly verifyPassword: (password: string, passwordHash: Option<string>) => Promise<boolean>
  /** HS256, with the life of JWT_TTL. */
  readonly signJwt: (claims: JwtClaims) => Promise<string>
  /** None for anything but a valid token of ours. */
  readonly verifyJwt: (token: string) => Promise<Option<JwtClaims>>
  /** HMAC-SHA-256 under a key derived from the master key, base64url; `purpose` keeps kinds apart. */
  readonly keyedHash: (purpose: 'username' | 'live-token' | 'audio-url' | 'setup-token' | 'idempotency-key' | 'create-request', value: string) => string
}
