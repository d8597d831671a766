import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** The vocabulary that a sender expects speakers to use. */
export interface ExpectedVocabulary {
  /** Replaces the earlier vocabulary. */
  readonly vocabulary: GivenVocabulary
  /** Leadership term of the worker that writes the vocabulary. */
  readonly term: number
}

/** Stores a new vocabulary, so another worker that takes over the session uses it too. Skips an equal vocabulary. */
export type ChangeVocabulary = (
  liveId: number,
  expected: ExpectedVocabulary,
) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const changeVocabulary =
  (deps: WriteDeps): ChangeVocabulary =>
  (liveId, expected) =>
    pipe(
      changeLive(deps)(liveId, { type: 'ChangeVocabulary', ...expected, at: deps.environment.now() }),
      TE.map(() => undefined),
    )
