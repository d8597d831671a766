import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** What a sender said that speakers are likely to say, by the worker of the term. */
export interface ExpectedWords {
  /** All that is expected from now on. */
  readonly vocabulary: GivenVocabulary
  readonly term: number
}

/** Another worker that takes the live over expects it too; nothing to do where it is the same. */
export type ChangeVocabulary = (
  liveId: number,
  expected: ExpectedWords,
) => TaskEither<LiveOver | Superseded | Unavailable, void>

export const changeVocabulary =
  (deps: WriteDeps): ChangeVocabulary =>
  (liveId, expected) =>
  async () => {
    const at = deps.environment.now()
    const changed = await changeLive(deps)(liveId, { type: 'ChangeVocabulary', ...expected, at })()
    return E.map(() => undefined)(changed)
  }
