import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from '../errors.ts'
import type { Origin } from '../log/origin.ts'
import type { Repeatable } from '../log/origin.ts'
import type { EndCause } from '../pipeline/signals.ts'
import type { Position } from '../ports/event-store.ts'
import { atMost } from '../waiting.ts'
import { endAndRelease } from './end-and-release.ts'
import { FLUSH_LIMIT_MS } from './end-by-worker.ts'
import type { EndByWorker, Ended } from './end-by-worker.ts'
import type { LiveWriteDeps } from './release-live.ts'

export interface RequestEndDeps extends LiveWriteDeps {
  readonly endByWorker: EndByWorker
}

/** Longest wait for the answer of the worker: longer than FLUSH_LIMIT_MS, shorter than the time limit of a request. */
const ANSWER_MS = 4000

/**
 * Sends the request to end a session to its worker, which transcribes the last audio and retries until the end is
 * stored. The returned function waits for the worker. If no worker runs the session or the worker answers too late, the
 * function appends the end itself. Its result is that of `endAndRelease`.
 */
export const sendEndRequest =
  (deps: RequestEndDeps) =>
  (liveId: number, cause: EndCause, origin: Origin): Repeatable<Unavailable, Position | null> => {
    let answer: Ended | null = null as Ended | null
    const answered = deps.endByWorker(liveId, { cause, origin, limitMs: FLUSH_LIMIT_MS })?.then((ended) => {
      answer = ended
    })
    const waited = answered === undefined ? Promise.resolve() : atMost(deps.timers, ANSWER_MS, answered)
    return async () => {
      await waited
      return answer === null ? await endAndRelease(deps, liveId, cause, origin) : E.right(answer.position)
    }
  }

/** Sends the request to end a session, and waits for the end. */
export const requestEnd =
  (deps: RequestEndDeps) =>
  async (liveId: number, cause: EndCause, origin: Origin): Promise<Either<Unavailable, Position | null>> =>
    sendEndRequest(deps)(liveId, cause, origin)()
