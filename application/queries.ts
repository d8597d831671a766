import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveNotFound, Unavailable } from './errors.ts'
import { openLives } from './lives/live-views.ts'
import type { Document, Documents, DocumentsUnavailable, Filter } from './ports/documents.ts'
import type { Keyring } from './ports/keyring.ts'
import { LIVE_COUNTS, LIVES, LIVE_STATUSES } from './ports/read-models.ts'
import type { LiveCountsDocument, LiveDocument, LiveStatus } from './ports/read-models.ts'
import type { Services } from './services.ts'
import type { PageQuery } from './ports/documents.ts'

export interface QueryDeps {
  readonly documents: Pick<Documents, 'get' | 'page'>
  readonly keyring: Pick<Keyring, 'open'>
}

type Queries = Pick<Services, 'getLive' | 'listLives'>

// A collection holds what its projection alone wrote into it, so its type is the projection's.
const asLive = (document: Document): LiveDocument => document as unknown as LiveDocument
const asCounts = (document: Document): LiveCountsDocument => document as unknown as LiveCountsDocument

/** How many lives have this status. */
export const totalOf = (counts: LiveCountsDocument, status: LiveStatus): number => {
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

/**
 * A page by id, descending, of `total` documents, more than `skip`. From the nearer end: what is skipped is read, so the
 * last page of a long list costs as little as the first (S46).
 */
export const newestFirst = (
  documents: Pick<Documents, 'page'>,
  collection: string,
  filter: Filter,
  { skip, limit }: PageQuery,
  total: number,
): TaskEither<DocumentsUnavailable, ReadonlyArray<Document>> => {
  const behind = Math.max(0, total - skip - limit)
  if (skip <= behind) return documents.page(collection, { filter, sort: { by: 'id', direction: 'descending' }, skip, limit })
  const page = { skip: behind, limit: Math.min(limit, total - skip) }
  return TE.map((found: ReadonlyArray<Document>) => found.toReversed())(
    documents.page(collection, { filter, sort: { by: 'id', direction: 'ascending' }, ...page }),
  )
}

/** What the read models answer. */
export const createQueries = ({ documents, keyring }: QueryDeps): Queries => {
  const getLive: Queries['getLive'] = (caller, liveId) => async () => {
    const found = await documents.get(LIVES, String(liveId))()
    if (E.isLeft(found)) return found
    const live = O.map(asLive)(found.right)
    // Somebody else's live is as unknown as one that never was (R36).
    if (O.isNone(live) || live.value.userId !== caller.userId) return E.left<LiveNotFound>({ _tag: 'LiveNotFound' })
    const opened = await openLives(keyring)([live.value])()
    if (E.isLeft(opened)) return opened
    return E.fromNullable<LiveNotFound>({ _tag: 'LiveNotFound' })(opened.right[0])
  }

  /** From the user's counter, so that its cost does not grow with the number of lives. */
  const countLives = (userId: number, statuses: ReadonlyArray<LiveStatus>): TaskEither<Unavailable, number> => async () => {
    const found = await documents.get(LIVE_COUNTS, String(userId))()
    if (E.isLeft(found)) return found
    if (O.isNone(found.right)) return E.right(0)
    const counts = asCounts(found.right.value)
    return E.right(statuses.reduce((sum, status) => sum + totalOf(counts, status), 0))
  }

  const listLives: Queries['listLives'] = (caller, asked, { skip, limit }) => async () => {
    // A status that was asked for twice counts once.
    const statuses = LIVE_STATUSES.filter((status) => asked.length === 0 || asked.includes(status))
    const total = await countLives(caller.userId, statuses)()
    if (E.isLeft(total)) return total
    if (skip >= total.right) return E.right({ items: [], total: total.right })
    const everyStatus = statuses.length === LIVE_STATUSES.length
    const filter = everyStatus ? { userId: caller.userId } : { userId: caller.userId, status: statuses }
    const found = await newestFirst(documents, LIVES, filter, { skip, limit }, total.right)()
    if (E.isLeft(found)) return found
    const items = await openLives(keyring)(found.right.map(asLive))()
    return E.isLeft(items) ? items : E.right({ items: items.right, total: total.right })
  }

  return { getLive, listLives }
}
