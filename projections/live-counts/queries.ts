import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { DocumentsUnavailable } from '../../application/ports/documents.ts'
import type { LiveStatus } from '../../application/ports/read-models.ts'
import { ALL_PARTS } from '../totals.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { type LiveCountsDocument, liveCountsIn, liveTotalsIn } from './document.ts'

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

/** Counts the sessions of a user, or of all users (null), that have one of the statuses. */
type CountLives = (
  userId: number | null,
  statuses: ReadonlyArray<LiveStatus>,
) => Promise<Either<DocumentsUnavailable, number>>

const countsOf = async (
  documents: ReadDocuments,
  userId: number,
): Promise<Either<DocumentsUnavailable, ReadonlyArray<LiveCountsDocument>>> =>
  pipe(await liveCountsIn(documents).get(String(userId)), E.map(O.match(() => [], (counts) => [counts])))

/** Reads the counters, so the cost does not depend on the number of ended sessions. */
export const countLives =
  (documents: ReadDocuments): CountLives =>
  async (userId, statuses) =>
    pipe(
      await (userId === null ? liveTotalsIn(documents).page(ALL_PARTS) : countsOf(documents, userId)),
      E.map((all) =>
        all.reduce((sum, counts) => statuses.reduce((total, status) => total + totalOf(counts, status), sum), 0)),
    )

/** Returns the ids of a user's pending and active sessions. */
type OpenLivesOf = (userId: number) => Promise<Either<DocumentsUnavailable, ReadonlyArray<number>>>

export const openLivesOf =
  (documents: ReadDocuments): OpenLivesOf =>
  async (userId) =>
    pipe(
      await countsOf(documents, userId),
      E.map((all) => all.flatMap(({ pending, active }) => [...pending, ...active])),
    )
