import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { DocumentsUnavailable } from '../../application/ports/documents.ts'
import type { LiveStatus } from '../../application/ports/read-models.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { ALL_LIVES, liveCountsIn, liveTotalsIn } from './document.ts'
import type { LiveCountsDocument } from './document.ts'

/** How many lives have this status. */
const totalOf = (counts: LiveCountsDocument, status: LiveStatus): number => {
  switch (status) {
    case 'pending':
    case 'active':
      return counts[status].length
    case 'finished':
    case 'error':
      return counts[status]
    default:
      return status satisfies never
  }
}

/** How many lives of a user, or of all (null), have one of the statuses. */
type CountLives = (
  userId: number | null,
  statuses: ReadonlyArray<LiveStatus>,
) => TaskEither<DocumentsUnavailable, number>

/** From the counters, so that its cost does not grow with the number of lives. */
export const countLives =
  (documents: ReadDocuments): CountLives =>
  (userId, statuses) =>
    pipe(
      userId === null ? liveTotalsIn(documents).get(ALL_LIVES) : liveCountsIn(documents).get(String(userId)),
      TE.map(
        O.match(
          () => 0,
          (counts) => statuses.reduce((sum, status) => sum + totalOf(counts, status), 0),
        ),
      ),
    )

/** Ids of a user's open lives. */
type OpenLivesOf = (userId: number) => TaskEither<DocumentsUnavailable, ReadonlyArray<number>>

export const openLivesOf =
  (documents: ReadDocuments): OpenLivesOf =>
  (userId) =>
    pipe(
      liveCountsIn(documents).get(String(userId)),
      TE.map(O.match(() => [], ({ pending, active }) => [...pending, ...active])),
    )
