import * as E from 'fp-ts/lib/Either.js'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin, type Repeatable } from '../../log/origin.ts'
import { changeLive } from '../change-live.ts'

/** The vocabulary that a sender expects speakers to use. */
export interface ExpectedVocabulary {
  /** Replaces the earlier vocabulary. */
  readonly vocabulary: GivenVocabulary
  readonly term: number
}

/** Stores a new vocabulary, so another worker that takes over the session uses it too. Skips an equal vocabulary. */
export type ChangeVocabulary = (
  liveId: number,
  expected: ExpectedVocabulary,
) => Repeatable<LiveOver | Superseded | Unavailable, void>

export const changeVocabulary =
  (deps: WriteDeps): ChangeVocabulary =>
  (liveId, expected) => {
    const [origin, at] = [ownOrigin(deps), deps.environment.now()]
    const command = { type: 'ChangeVocabulary', ...expected } as const
    return async () => E.map(() => undefined)(await changeLive(deps)(liveId, command, origin, at))
  }
