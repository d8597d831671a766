/** Time, ids and random values. They are injected, so tests can control them. */
export interface Environment {
  /** Wall clock, e.g. `2026-11-21T09:30:00.123456+00:00`. */
  readonly now: () => string
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number
  /** UUID version 7. */
  readonly newId: () => string
  /** 256 random bits, base64url (43 characters). */
  readonly newSecret: () => string
  /** From 0 to 1, for jitter. */
  readonly random: () => number
  /** Returns the UUID of the current HTTP request or WebSocket handshake. Null outside of requests. */
  readonly correlationId: () => string | null
  /** UUID of this process, made at start. */
  readonly instance: string
}

/** Structured log. Fields must not contain transcript text or secrets. */
export interface Logger {
  readonly info: (fields: Readonly<Record<string, unknown>>, message: string) => void
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void
}
