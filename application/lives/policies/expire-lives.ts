import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { firstLimit, limitedSince, nextLimit } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/state.ts'
import type { TimeLimits } from '../../../domain/live/commands.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { membersOf } from '../../../domain/read-event.ts'
import { createAges } from '../../ages.ts'
import type { Unavailable } from '../../refusals.ts'
import type { StoredEvent } from '../../ports/event-store.ts'
import { originOf } from '../../log/origin.ts'
import { type EndDeps, releaseLive, requestEnd } from '../ending.ts'
import { sendToSession } from '../../log/send-to.ts'

export interface ExpireLivesDeps extends EndDeps {
  readonly limits: TimeLimits
}

/** Events that are searched for the one from which a limit counts. */
const SEARCHED_EVENTS = 200

const TOO_LONG = { status: 'finished', reason: 'max_duration' } as const

/** Ends sessions that have reached a time limit. */
export interface Expiry {
  /** When the session reaches its next time limit, in milliseconds since 1970. Infinity: it reaches none. */
  readonly dueAt: (live: Live) => number
  /** The same for a session to which nothing has happened since its creation. */
  readonly dueAfterCreation: (createdAt: string) => number
  /** Ends the session after its last audio is transcribed, if it is due by the clock of the store. */
  readonly end: (liveId: number, live: Live) => Promise<Either<Unavailable, void>>
}

/**
 * Ends a pending session without a sender after PENDING_TIMEOUT, and every session after MAX_DURATION.
 * `reconcile-lives.ts` calls it every `expiryCheckMs` milliseconds. Other files apply two further limits. IDLE_TIMEOUT,
 * for a connected but silent sender: `interfaces/ws/senders/idle.ts`. RECONNECT_GRACE, for a lost sender:
 * `application/running/live-sessions.ts`.
 */
export const expireLives = (deps: ExpireLivesDeps): Expiry => {
  const { store, limits } = deps
  const ageOf = createAges(deps)

  /**
   * Returns the present time by the clock that wrote the instant from which the limit counts: the store says how old
   * that event is. So no wrong clock of a process ends a session early.
   */
  const nowFor = async (liveId: number, live: Live): Promise<Either<Unavailable, number>> => {
    const since = limitedSince(live)
    const stream = liveStream(liveId)
    // A session becomes active near the beginning of its stream. Senders come and go near its end.
    const direction = live.status === 'active' ? 'forwards' : 'backwards'
    return E.map((events: ReadonlyArray<StoredEvent>) => {
      const event = events.find((candidate) => membersOf(candidate)['at'] === since)
      return event === undefined ? store.now() : Date.parse(since) + ageOf(event.position, event.storedAt)
    })(await store.read(stream, { direction, limit: SEARCHED_EVENTS }))
  }

  return {
    dueAt: (live) => nextLimit(live, limits)?.at ?? Infinity,
    dueAfterCreation: (createdAt) => firstLimit(createdAt, limits)?.at ?? Infinity,

    end: async (liveId, live) => {
      const origin = originOf(deps, 'service')
      const now = await nowFor(liveId, live)
      if (E.isLeft(now)) return now
      if (now.right < (nextLimit(live, limits)?.at ?? Infinity)) return E.right(undefined)
      // An active session that is due stays due. A pending session may get a sender in the meantime, so the command
      // below decides again.
      if (live.status === 'active')
        return E.map(() => undefined)(await requestEnd(deps, liveId, TOO_LONG, origin))
      const expired = await sendToSession(deps)(liveId, { type: 'ExpireLive', ...limits, now: now.right }, origin)
      if (E.isLeft(expired)) return expired.left._tag === 'LiveUnknown' ? E.right(undefined) : E.left(expired.left)
      const isEnded = expired.right.position !== null
      return isEnded ? await releaseLive(deps, liveId, origin) : E.right(undefined)
    },
  }
}

/** Returns the milliseconds between two checks of the open sessions: a quarter of the shortest limit, 250 to 30,000. */
export const expiryCheckMs = ({ pendingTimeout, maxDuration }: TimeLimits): number => {
  const shortest = Math.min(...[pendingTimeout, maxDuration].filter((limit) => limit > 0))
  return Math.min(30_000, Math.max(250, shortest / 4))
}
