import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Credentials } from '../../application/ports/credentials.ts'
import type { DocumentsUnavailable, Filter } from '../../application/ports/documents.ts'
import type { HolderOfToken, ResolvedToken, ResolveToken } from '../../application/ports/read-models.ts'
import { openLivesOf } from '../live-counts/queries.ts'
import { livesIn } from '../lives/document.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { liveTokensIn } from './document.ts'
import type { LiveTokenDocument } from './document.ts'

const newestTokenIn =
  (documents: ReadDocuments) =>
  (filter: Filter): TaskEither<DocumentsUnavailable, Option<LiveTokenDocument>> =>
    pipe(
      liveTokensIn(documents).page({ filter, sort: { by: 'liveId', direction: 'descending' }, skip: 0, limit: 1 }),
      TE.map(RA.head),
    )

export const holderOfToken =
  ({ documents }: { readonly documents: ReadDocuments }): HolderOfToken =>
  (hash) =>
    newestTokenIn(documents)({ hash })

export interface ResolveTokenDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly documents: ReadDocuments
}

/** Finds the session and role of a token by its hash. */
export const resolveToken = ({ credentials, documents }: ResolveTokenDeps): ResolveToken => {
  const newestToken = newestTokenIn(documents)

  /** The token may be projected before its session. A session that is not projected yet counts as pending. */
  const resolved = ({ liveId, role }: LiveTokenDocument): TaskEither<DocumentsUnavailable, ResolvedToken> =>
    pipe(
      livesIn(documents).get(String(liveId)),
      TE.map(
        O.match(
          () => ({ liveId, role, status: 'pending' }),
          ({ status }) => ({ liveId, role, status }),
        ),
      ),
    )

  /** Prefers an open session, because a custom token may belong to thousands of ended sessions. */
  const newestOpen = (hash: string, token: LiveTokenDocument): TaskEither<DocumentsUnavailable, LiveTokenDocument> =>
    pipe(
      openLivesOf(documents)(token.userId),
      TE.chain((liveId) => newestToken({ hash, liveId })),
      TE.map(O.getOrElse(() => token)),
    )

  return (token, liveId) => {
    const hash = credentials.keyedHash('live-token', token)
    const preferOpen = (newest: LiveTokenDocument): TaskEither<DocumentsUnavailable, LiveTokenDocument> =>
      liveId !== null || newest.role === 'sender' ? TE.right(newest) : newestOpen(hash, newest)
    return pipe(
      newestToken(liveId === null ? { hash } : { hash, liveId }),
      TE.chain(O.traverse(TE.ApplicativeSeq)((newest) => pipe(preferOpen(newest), TE.chain(resolved)))),
    )
  }
}
