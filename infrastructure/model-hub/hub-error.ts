/** A failed request to the hub (huggingface.co, or a mirror of it). The message is a sentence for users. */
export class HubError extends Error {
  /** Whether a retry may succeed. */
  readonly isTemporary: boolean
  /** Milliseconds to wait before a retry, from the hub's answer; null: the answer contains no time. */
  readonly waitMs: number | null
  /** The HTTP status; null without a response. */
  readonly status: number | null

  constructor(
    message: string,
    { isTemporary = false, waitMs = null, status = null }:
      Partial<Pick<HubError, 'isTemporary' | 'waitMs' | 'status'>> = {},
  ) {
    super(message)
    this.isTemporary = isTemporary
    this.waitMs = waitMs
    this.status = status
  }
}

/** The downloaded content differs from the hash or size that the hub lists. */
export class WrongContent extends HubError {}

/** Longest wait between attempts. The hub counts requests in periods of five minutes; 30 s are a reserve. */
const MAX_WAIT_MS = 330_000

/**
 * Returns the milliseconds to wait before a retry, or null when the headers do not say. Reads both forms of
 * `Retry-After` and the rate limit header of the hub (`RateLimit: "resolvers";r=0;t=55`). A date counts from the date
 * of the answer, because the clock of this machine may be wrong.
 */
export const retryAfterMs = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
): number | null => {
  const after = headers['retry-after']
  const limit = headers['ratelimit']
  const hubTime = Date.parse(String(headers['date']))
  const seconds = typeof limit === 'string' ? /(?:^|;)\s*t=(\d+)/.exec(limit)?.[1] : undefined
  if (typeof after === 'string' && /^\d+$/.test(after)) return Math.min(MAX_WAIT_MS, Number(after) * 1000)
  if (typeof after === 'string' && !Number.isNaN(Date.parse(after) - hubTime))
    return Math.min(MAX_WAIT_MS, Math.max(0, Date.parse(after) - hubTime))
  return seconds === undefined ? null : Math.min(MAX_WAIT_MS, Number(seconds) * 1000)
}
