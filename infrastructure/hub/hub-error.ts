/** What the hub or the way to it refused, in a sentence for people. */
export class HubError extends Error {
  /** Whether the same request may succeed a moment later. */
  readonly passing: boolean
  /** Milliseconds that the hub asked to wait; null where it did not. */
  readonly waitMs: number | null
  /** The HTTP status, where there was one. */
  readonly status: number | null

  constructor(message: string, { passing = false, waitMs = null, status = null }: Partial<Pick<HubError, 'passing' | 'waitMs' | 'status'>> = {}) {
    super(message)
    this.passing = passing
    this.waitMs = waitMs
    this.status = status
  }
}

/** What came is not what the hub vouched for. */
export class WrongContent extends HubError {}

/** Longest wait that is honoured; whoever is told to wait longer should come back by themselves. */
const LONGEST_WAIT_MS = 330_000

/** `Retry-After` in either form, or the seconds of `RateLimit: "resolvers";r=0;t=55`, which the hub sends: a window is five minutes. */
export const waitOf = (headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>, now: number): number | null => {
  const after = headers['retry-after']
  const limit = headers['ratelimit']
  const seconds = typeof limit === 'string' ? /(?:^|;)\s*t=(\d+)/.exec(limit)?.[1] : undefined
  if (typeof after === 'string' && /^\d+$/.test(after)) return Math.min(LONGEST_WAIT_MS, Number(after) * 1000)
  if (typeof after === 'string' && !Number.isNaN(Date.parse(after))) return Math.min(LONGEST_WAIT_MS, Math.max(0, Date.parse(after) - now))
  return seconds === undefined ? null : Math.min(LONGEST_WAIT_MS, Number(seconds) * 1000)
}
