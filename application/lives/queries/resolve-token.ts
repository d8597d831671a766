import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { Credentials } from '../../ports/credentials.ts'
import type { Documents, DocumentsUnavailable, Filter } from '../../ports/documents.ts'
import { LIVES, LIVE_COUNTS, LIVE_TOKENS } from '../../ports/read-models.ts'
import type { LiveCountsDocument, LiveDocument, LiveStatus, LiveTokenDocument, SocketRole } from '../../ports/read-models.ts'
import type { LiveLifecycle } from '../../services.ts'

export interface ResolveTokenDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly documents: Pick<Documents, 'get' | 'page'>
}

interface Resolved {
  readonly liveId: number
  readonly role: SocketRole
  readonly status: LiveStatus
}

const NONE_OPEN: Pick<LiveCountsDocument, 'pending' | 'active'> = { pending: [], active: [] }

/** The role and the live behind a socket token; only hashes are compared. */
export const createResolveToken = ({ credentials, documents }: ResolveTokenDeps): LiveLifecycle['resolveToken'] => {
  const newestToken = async (filter: Filter): Promise<Either<DocumentsUnavailable, LiveTokenDocument | undefined>> => {
    const page = await documents.page(LIVE_TOKENS, { filter, sort: { by: 'liveId', direction: 'descending' }, skip: 0, limit: 1 })()
    // Documents of this collection have this shape: the projection wrote them.
    return E.isLeft(page) ? page : E.right(page.right[0] as LiveTokenDocument | undefined)
  }

  const resolved = async ({ liveId, role }: LiveTokenDocument): Promise<Either<DocumentsUnavailable, Option<Resolved>>> => {
    const live = await documents.get(LIVES, String(liveId))()
    if (E.isLeft(live)) return live
    // Tokens and lives are read models of their own: a token may show first, and every live begins as pending.
    const status = O.isSome(live.right) ? (live.right.value as unknown as LiveDocument).status : 'pending'
    return E.right(O.some({ liveId, role, status }))
  }

  return (token, liveId) => async () => {
    const hash = credentials.keyedHash('live-token', token)
    const newest = await newestToken(liveId === null ? { hash } : { hash, liveId })
    if (E.isLeft(newest)) return newest
    if (newest.right === undefined) return E.right(O.none)
    if (liveId !== null || newest.right.role === 'sender') return await resolved(newest.right)

    // A custom token may name thousands of ended lives, but few open ones.
    const counts = await documents.get(LIVE_COUNTS, String(newest.right.userId))()
    if (E.isLeft(counts)) return counts
    const { pending, active } = O.isSome(counts.right) ? (counts.right.value as unknown as LiveCountsDocument) : NONE_OPEN
    const newestOpen = await newestToken({ hash, liveId: [...pending, ...active] })
    return E.isLeft(newestOpen) ? newestOpen : await resolved(newestOpen.right ?? newest.right)
  }
}
