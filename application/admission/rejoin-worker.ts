import type { Logger } from '../ports/environment.ts'
import type { Members } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'
import { pause, retryDelay } from '../waiting.ts'
import { type PlacingDeps, sendWithRetries } from './send-with-retries.ts'

interface RejoinDeps extends PlacingDeps {
  readonly members: Pick<Members, 'self' | 'ownershipProblem'>
  readonly timers: Timers
  readonly logger: Logger
  /** Megabytes. */
  readonly vram: number
}

export interface Rejoining {
  /** Call it when the log contains `WorkerLeft` for this process. */
  readonly left: () => void
  readonly stop: () => Promise<void>
}

const RETRY = { first: 200, longest: 5000 }

/**
 * Joins this worker again after other processes wrongly considered it lost, for example because it was frozen. Its old
 * sessions stop as soon as it reads `WorkerLeft` (`running/run-lives.ts`). Until then the log refuses its writes to
 * them (`lives/ownership/fence-segments.ts`). It first waits until the other processes see it again. Otherwise they
 * would remove it again, and its new sessions would move again.
 */
export const rejoinWorker = (deps: RejoinDeps): Rejoining => {
  const { admission, environment, members, timers, logger, vram } = deps
  const { name: worker, incarnation } = members.self
  const stopping = new AbortController()
  const { signal } = stopping
  let joining: Promise<void> | null = null

  const isJoined = (): boolean =>
    admission.state().workers.some((known) => known.worker === worker && known.incarnation === incarnation)

  const rejoin = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted && !isJoined(); attempt += 1) {
      if ((await members.ownershipProblem()) !== null) {
        await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
        continue
      }
      // The log has no earlier process of this name any more, so this is not a restart.
      const command = { type: 'Join', worker, incarnation, vram, knowsRestart: false } as const
      if (signal.aborted || !(await sendWithRetries(deps, command, signal))) return
      logger.warn({ worker }, 'this worker was wrongly considered lost; it has joined again')
    }
  }

  return {
    left: () => {
      joining ??= rejoin()
        .catch((error: unknown) => logger.error({ err: error }, 'this worker could not join again'))
        .finally(() => { joining = null })
    },
    stop: async () => {
      stopping.abort()
      await joining
    },
  }
}
