/** All values are milliseconds. */
export interface Limits {
  /** Timeout of a call while the store answers. */
  readonly usual: number
  /** Timeout of a call after an unanswered call. */
  readonly short: number
  /** Time for which `short` applies after an unanswered call. */
  readonly suspicion: number
  /**
   * Timeout of each answer at the start of a subscription. It is long: a freshly started server needed up to 2.8 s for
   * 13 subscriptions, and a retry starts from the beginning. A running subscription has no timeout, because the probes
   * of the leader detect a silent server.
   */
  readonly confirmation: number
}

export const LIMITS: Limits = { usual: 800, short: 200, suspicion: 3000, confirmation: 6000 }

/** A call without an answer in time. */
export class TimedOut extends Error {
  constructor(limitMs: number) {
    super(`no answer in ${limitMs} ms`)
  }
}

/**
 * Timeouts of calls. A command makes up to five calls in sequence. When the store is unavailable, its client must still
 * get an answer within two seconds. So after an unanswered call, the following calls get a short timeout. The store may
 * be slow instead of unavailable. So the usual timeout applies again after the next answer, or after some time.
 */
export interface CallTimeouts {
  /** Returns the milliseconds for a call that starts now. */
  readonly limit: () => number
  readonly answered: () => void
  readonly unanswered: () => void
  readonly confirmation: number
}

export const createCallTimeouts = (
  limits: Limits = LIMITS,
  now: () => number = () => performance.now(),
): CallTimeouts => {
  let suspectUntil = 0
  return {
    confirmation: limits.confirmation,
    limit: () => (now() < suspectUntil ? limits.short : limits.usual),
    answered: () => {
      suspectUntil = 0
    },
    unanswered: () => {
      if (now() >= suspectUntil) suspectUntil = now() + limits.suspicion
    },
  }
}

interface Timeout {
  readonly restart: () => void
  readonly stop: () => void
}

/**
 * Calls `onTimeout` after `ms` milliseconds, but only after the event loop has read the sockets. After a stall of this
 * process, an answer may already be waiting there.
 */
export const startTimeout = (ms: number, onTimeout: () => void): Timeout => {
  let isOn = true
  const timer = setTimeout(() => {
    setImmediate(() => setImmediate(() => {
      if (isOn) onTimeout()
    }))
  }, ms)
  return {
    restart: () => void timer.refresh(),
    stop: () => {
      isOn = false
      clearTimeout(timer)
    },
  }
}

/** Resolves with the result of `work`, or rejects with TimedOut after `ms` milliseconds and ignores a late result. */
export const withTimeout = async <A>(ms: number, work: Promise<A>): Promise<A> => {
  const late = Promise.withResolvers<never>()
  const timeout = startTimeout(ms, () => late.reject(new TimedOut(ms)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    timeout.stop()
  }
}
