import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/decider.ts'
import type { TimeLimits } from '../../../domain/live/commands.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import { askForEnd } from '../ask-for-end.ts'
import type { AskForEndDeps } from '../ask-for-end.ts'
import { releaseLive } from '../release-live.ts'

export interface ExpireLivesDeps extends AskForEndDeps {
  readonly limits: TimeLimits
}

const TOO_LONG = { status: 'finished', reason: 'max_duration' } as const

/** Ends of lives by their time limits. */
export interface Expiry {
  readonly isDue: (live: Live) => boolean
  /** Lets the live speak out, for some seconds, finishes it and gives its memory back, if it is due then, too. */
  readonly end: (liveId: number, live: Live) => Promise<Either<Unavailable, void>>
}

/**
 * What ends a live session that nobody uses, and one that goes on for ever: a pending one without a sender after
 * PENDING_TIMEOUT, any after MAX_DURATION. `reconcile-lives.ts` asks for it, every `lookEvery`. A sender that is
 * connected and silent meets the socket's own IDLE_TIMEOUT (`interfaces/ws/senders/idle.ts`), one that was lost
 * RECONNECT_GRACE (`application/sessions/live-sessions.ts`).
 */
export const expireLives = (deps: ExpireLivesDeps): Expiry => {
  const commandNow = () => ({
    type: 'ExpireLive',
    ...deps.limits,
    at: deps.environment.now(),
  } as const)

  return {
    isDue: (live) => {
      const due = liveDecider.decide(commandNow(), live)
      return E.isRight(due) && due.right.length > 0
    },

    end: async (liveId, live) => {
      const origin = originOf(deps, 'service')
      // Nothing makes up for the time that it has had. A pending one may be given a sender until the very end.
      if (live.status === 'active')
        return E.map(() => undefined)(await askForEnd(deps)(liveId, TOO_LONG, origin)())
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

/** Milliseconds between two looks at the open lives: often enough for the shortest limit, at least every 30 s. */
export const lookEvery = ({ pendingTimeout, maxDuration }: TimeLimits): number => {
  const shortest = Math.min(...[pendingTimeout, maxDuration].filter((limit) => limit > 0))
  return Math.min(30_000, Math.max(250, shortest / 4))
}
