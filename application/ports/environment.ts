/** Time, identity and chance: all that the application may not make up itself. */
export interface Environment {
  /** Wall clock in D23's form, e.g. `2026-11-21T09:30:00.123456+00:00`. */
  readonly now: () => string
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  /** UUID version 7. */
  readonly newId: () => string
  /** 256 random bits, base64url (43 characters). */
  readonly newSecret: () => string
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Of the request or handshake in whose course the caller runs, a UUID; null outside of any. */
  readonly correlationId: () => string | null
  /** This process: a UUID made at start. */
  readonly instance: string
}

/** Structured log; fields never hold transcript text or secrets. */
export interface Logger {
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void
}
