import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../errors.ts'
import type { Origin } from '../log/origin.ts'
import type { EndCause } from '../pipeline/signals.ts'
import type { Position } from '../ports/event-store.ts'
import { atMost } from '../waiting.ts'
import { endAndRelease } from './end-and-release.ts'
import { LAST_WORDS_MS } from './last-words.ts'
import type { EndByWorker, Ended } from './last-words.ts'
import type { LiveWriteDeps } from './release-live.ts'

export interface AskForEndDeps extends LiveWriteDeps {
  readonly endByWorker: EndByWorker
}

/** Beyond it a worker is not waited for: longer than last words take, shorter than a request may. */
const ANSWER_MS = 4000

/**
 * Ends a live after its last words: asks its worker, who goes on trying whatever comes of the request, and appends the
 * end itself where none runs it or none answers in time. Asks at once; the answer is that of `endAndRelease`.
 */
export const askForEnd =
  (deps: AskForEndDeps) =>
  (liveId: number, cause: EndCause, origin: Origin): TaskEither<Unavailable, Position | null> => {
    const asked = deps.endByWorker(liveId, { cause, origin, limitMs: LAST_WORDS_MS })
    let answer: Ended | null = null
    const answered = asked?.then((ended) => {
      answer = ended
    })
    const waited = answered === undefined ? Promise.resolve() : atMost(deps.timers, ANSWER_MS, answered)
    return async () => {
      await waited
      return answer === null ? await endAndRelease(deps, liveId, cause, origin)() : E.right(answer.position)
    }
  }
