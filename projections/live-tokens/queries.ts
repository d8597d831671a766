import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { DocumentsUnavailable, Filter } from '../../application/ports/documents.ts'
import type { EventStore, Position } from '../../application/ports/event-store.ts'
import type {
  FindListedToken, FindUnlistedLive, HolderOfToken, ResolvedToken,
} from '../../application/ports/read-models.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { LiveCreated } from '../../domain/live/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import { openLivesOf } from '../live-counts/queries.ts'
import { livesIn } from '../lives/document.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { type LiveTokenDocument, liveTokensIn } from './document.ts'
import { liveTokens } from './projection.ts'

const newestTokenIn =
  (documents: ReadDocuments) =>
  async (filter: Filter): Promise<Either<DocumentsUnavailable, Option<LiveTokenDocument>>> =>
    pipe(
      await liveTokensIn(documents).page({
        filter, sort: { by: 'liveId', direction: 'descending' }, skip: 0, limit: 1,
      }),
      E.map(RA.head),
    )

export const holderOfToken =
  ({ documents }: { readonly documents: ReadDocuments }): HolderOfToken =>
  (hash) =>
    newestTokenIn(documents)({ hash })

/** Finds the listed session and the role of a token by its hash. */
export const findListedToken = ({ documents }: { readonly documents: ReadDocuments }): FindListedToken => {
  const newestToken = newestTokenIn(documents)

  /** The token may be projected before its session. A session that is not projected yet counts as pending. */
  const resolved = async ({ liveId, role }: LiveTokenDocument): Promise<Either<DocumentsUnavailable, ResolvedToken>> =>
    pipe(
      await livesIn(documents).get(String(liveId)),
      E.map(O.match(() => ({ liveId, role, status: 'pending' }), ({ status }) => ({ liveId, role, status }))),
    )

  /** Prefers an open session, because a custom token may belong to thousands of ended sessions. */
  const newestOpen = async (
    hash: string, token: LiveTokenDocument,
  ): Promise<Either<DocumentsUnavailable, LiveTokenDocument>> => {
    const liveId = await openLivesOf(documents)(token.userId)
    if (E.isLeft(liveId)) return liveId
    return pipe(await newestToken({ hash, liveId: liveId.right }), E.map(O.getOrElse(() => token)))
  }

  return async (hash, liveId) => {
    const newest = await newestToken(liveId === null ? { hash } : { hash, liveId })
    if (E.isLeft(newest)) return newest
    if (O.isNone(newest.right)) return E.right(O.none)
    const token = newest.right.value
    const preferred = liveId !== null || token.role === 'sender' ? E.right(token) : await newestOpen(hash, token)
    return E.isLeft(preferred) ? preferred : pipe(await resolved(preferred.right), E.map(O.some))
  }
}

export interface UnlistedLiveDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly timers: Timers
  /** Returns the position up to which the list contains all events. */
  readonly listedUpTo: () => Position
}

/** With more unlisted events than this, the list counts as too far behind. */
const MAX_UNLISTED = 1000
const MAX_READ_MS = 1500
const TOO_FAR_BEHIND = E.left<DocumentsUnavailable>(
  { _tag: 'DocumentsUnavailable', reason: 'the list of tokens is too far behind the log' })

const createdOf = eventReader([LiveCreated])

/** Reads the events that the list does not contain yet. */
export const findUnlistedLive =
  ({ store, timers, listedUpTo }: UnlistedLiveDeps): FindUnlistedLive =>
  async (hash) => {
    const stop = new AbortController()
    const cancel = timers.after(MAX_READ_MS, () => stop.abort())
    let [unlisted, found]: [number, Option<number>] = [0, O.none]
    try {
      for await (const message of store.subscribe(listedUpTo(), liveTokens.prefixes, stop.signal)) {
        if (message.kind === 'caught-up') return E.right(found)
        unlisted += 1
        if (unlisted > MAX_UNLISTED) return TOO_FAR_BEHIND
        const created = message.kind === 'event' ? createdOf(message.event)?.data : undefined
        if (created !== undefined && [created.senderTokenHash, created.listenerTokenHash].includes(hash))
          found = O.some(created.liveId)
      }
      return E.left({ _tag: 'StoreUnavailable', reason: 'the log did not answer in time' })
    } catch (error) {
      return E.left({ _tag: 'StoreUnavailable', reason: String(error) })
    } finally {
      cancel()
      stop.abort()
    }
  }
