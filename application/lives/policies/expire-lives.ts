import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { Live, TimeLimits } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { LiveSessions } from '../../services.ts'
import { releaseLive, unexpected } from '../commands/end-live.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { EndLiveDeps } from '../commands/end-live.ts'
import type { Origin } from '../../log/origin.ts'

export interface ExpireDeps extends EndLiveDeps {
  readonly limits: TimeLimits
  /** Lets the live's pipeline speak out what it has heard. */
  readonly flush: LiveSessions['flush']
  /** Processes that live beside this one. */
  readonly otherInstances: () => ReadonlyArray<string>
}

const FLUSH_MS = 2000

/** Ends of lives by their time limits. */
export interface Expiry {
  readonly isDue: (live: Live) => boolean
  /** Lets the live speak out, for at most some seconds, finishes it and gives its memory back, if it is due then, too. */
  readonly end: (liveId: number, live: Live) => Promise<Either<Unavailable, void>>
}

export const createExpiry = (deps: ExpireDeps): Expiry => {
  const commandNow = () => ({
    type: 'ExpireLive', ...deps.limits, instances: [deps.environment.instance, ...deps.otherInstances()], at: deps.environment.now(),
  } as const)

  return {
    isDue: (live) => {
      const due = liveDecider.decide(commandNow(), live)
      return E.isRight(due) && due.right.length > 0
    },

    end: async (liveId, live) => {
      if (live.status === 'active') await deps.flush(liveId, FLUSH_MS)
      const origin: Origin = { ...ownOrigin(deps), actor: 'service' }
      const command = commandNow()
      const expired = await handleCommand(deps)({ ...origin, stream: liveStream(liveId), decider: liveDecider, command })()
      if (E.isRight(expired)) return expired.right.position === null ? E.right(undefined) : await releaseLive(deps, liveId, origin)()
      switch (expired.left._tag) {
        case 'LiveUnknown':
        case 'LiveOver':
        case 'AlreadyCreated':
        case 'SenderAlreadyConnected':
          throw unexpected(expired.left, liveStream(liveId))
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
