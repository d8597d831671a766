import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { firstLimit, liveDecider, nextLimit } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/state.ts'
import type { TimeLimits } from '../../../domain/live/commands.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import { requestEnd } from '../request-end.ts'
import type { RequestEndDeps } from '../request-end.ts'
import { releaseLive } from '../release-live.ts'

export interface ExpireLivesDeps extends RequestEndDeps {
  readonly limits: TimeLimits
}

const TOO_LONG = { status: 'finished', reason: 'max_duration' } as const

/** Ends sessions that have reached a time limit. */
export interface Expiry {
  /** When the session reaches its next time limit, in milliseconds since 1970. Infinity: it reaches none. */
  readonly dueAt: (live: Live) => number
  /** The same for a session to which nothing has happened since its creation. */
  readonly dueAfterCreation: (createdAt: string) => number
  /** Ends the session after its last audio is transcribed. A pending session ends only if it is still due. */
  readonly end: (liveId: number, live: Live) => Promise<Either<Unavailable, void>>
}

/**
 * Ends a pending session without a sender after PENDING_TIMEOUT, and every session after MAX_DURATION.
 * `reconcile-lives.ts` calls it every `expiryCheckMs` milliseconds. Other files apply two further limits. IDLE_TIMEOUT,
 * for a connected but silent sender: `interfaces/ws/senders/idle.ts`. RECONNECT_GRACE, for a lost sender:
 * `application/sessions/live-sessions.ts`.
 */
export const expireLives = (deps: ExpireLivesDeps): Expiry => {
  const commandNow = () => ({
    type: 'ExpireLive',
    ...deps.limits,
    at: deps.environment.now(),
  } as const)

  return {
    dueAt: (live) => nextLimit(live, deps.limits)?.at ?? Infinity,
    dueAfterCreation: (createdAt) => firstLimit(createdAt, deps.limits)?.at ?? Infinity,

    end: async (liveId, live) => {
      const origin = originOf(deps, 'service')
      // An active session that is due stays due. A pending session may get a sender in the meantime, so the command
      // below decides again.
      if (live.status === 'active')
        return E.map(() => undefined)(await requestEnd(deps)(liveId, TOO_LONG, origin)())
      const stream = liveStream(liveId)
      const command = commandNow()
      const expired = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })()
      if (E.isRight(expired)) {
        const isEnded = expired.right.position !== null
        return isEnded ? await releaseLive(deps, liveId, origin)() : E.right(undefined)
      }
      switch (expired.left._tag) {
        case 'LiveUnknown':
        case 'LiveOver':
        case 'AlreadyCreated':
        case 'Superseded':
          throw unexpected(stream, expired.left)
        default:
          return E.left(expired.left)
      }
    },
  }
}

/** Returns the milliseconds between two checks of the open sessions: a quarter of the shortest limit, 250 to 30,000. */
export const expiryCheckMs = ({ pendingTimeout, maxDuration }: TimeLimits): number => {
  const shortest = Math.min(...[pendingTimeout, maxDuration].filter((limit) => limit > 0))
  return Math.min(30_000, Math.max(250, shortest / 4))
}
