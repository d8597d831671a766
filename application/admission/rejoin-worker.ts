import type { Logger } from '../ports/environment.ts'
import type { Members } from '../ports/peers/members.ts'
import type { Timers } from '../ports/timers.ts'
import { pause, retryDelay } from '../waiting.ts'
import { sendSurely } from './send-surely.ts'
import type { PlacingDeps } from './send-surely.ts'

interface RejoinDeps extends PlacingDeps {
  readonly members: Pick<Members, 'self' | 'ownershipProblem'>
  readonly timers: Timers
  readonly logger: Logger
  /** Megabytes. */
  readonly vram: number
}

export interface Rejoining {
  /** The log said that this run of the worker has left. */
  readonly left: () => void
  /** No longer: the process ends. */
  readonly stop: () => Promise<void>
}

const RETRY = { first: 200, longest: 5000 }

/**
 * A worker that was taken for lost while it lives joins anew, under its own incarnation: as soon as the other processes
 * hear of it again, so that a process which only it believes in is not given lives to lose.
 */
export const rejoinWorker = (deps: RejoinDeps): Rejoining => {
  const { admission, environment, members, timers, logger, vram } = deps
  const { name: worker, incarnation } = members.self
  const stopping = new AbortController()
  const { signal } = stopping
  let joining: Promise<void> | null = null

  const isJoined = (): boolean =>
    admission.state().workers.some((one) => one.worker === worker && one.incarnation === incarnation)

  const rejoin = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted && !isJoined(); attempt += 1) {
      const why = await members.ownershipProblem()
      if (why !== null) await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
      else if (!signal.aborted && await sendSurely(deps, { type: 'Join', worker, incarnation, vram, at: environment.now() }, signal))
        logger.warn({ worker }, 'this worker was taken for lost, and has joined anew')
      else return
    }
  }

  return {
    left: () => {
      joining ??= rejoin()
        .catch((error: unknown) => logger.error({ err: error }, 'this worker could not join anew'))
        .finally(() => { joining = null })
    },
    stop: async () => {
      stopping.abort()
      await joining
    },
  }
}
