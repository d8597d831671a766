/** Milliseconds. */
export interface Limits {
  /** For one call while the store answers. */
  readonly usual: number
  /** For one call after the store let one wait, and for how long that holds. */
  readonly short: number
  readonly suspicion: number
  /**
   * For each of the answers with which a subscription begins; the looks at the leader watch over what follows. Long: a
   * server that has just started took up to 2.8 s for 13 that began together, and begins anew with each that is given up.
   */
  readonly confirmation: number
}

export const LIMITS: Limits = { usual: 800, short: 200, suspicion: 3000, confirmation: 6000 }

/** A call got no answer in time. */
export class TimedOut extends Error {
  constructor(limit: number) {
    super(`no answer in ${limit} ms`)
  }
}

/**
 * How long calls wait. A command makes up to five calls one after another, and who asked is to hear within two seconds
 * that the store is away: so only the first that gets no answer waits long, those right after it do not. The
 * suspicion ends with any answer, or by itself, so that a store that became slow is given its time again.
 */
export interface Patience {
  /** Milliseconds for a call that begins now. */
  readonly limit: () => number
  readonly answered: () => void
  readonly unanswered: () => void
  readonly confirmation: number
}

export const createPatience = (limits: Limits = LIMITS, now: () => number = () => performance.now()): Patience => {
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

interface Alarm {
  /** Begins to wait anew. */
  readonly restart: () => void
  readonly stop: () => void
}

/**
 * Rings after `ms` milliseconds, but not before what has arrived meanwhile was taken from the sockets: after a stall of
 * this process the answer may lie there already.
 */
export const startAlarm = (ms: number, ring: () => void): Alarm => {
  let isOn = true
  const timer = setTimeout(() => {
    setImmediate(() => setImmediate(() => {
      if (isOn) ring()
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

/** What `work` gives, or TimedOut; a late answer is dropped. */
export const within = async <A>(ms: number, work: Promise<A>): Promise<A> => {
  const late = Promise.withResolvers<never>()
  const alarm = startAlarm(ms, () => late.reject(new TimedOut(ms)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    alarm.stop()
  }
}
