import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { isOpen } from '../../../domain/live/state.ts'
import type { TooManyRequests, Unavailable } from '../../refusals.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { FindListedToken, FindUnlistedLive, ResolvedToken, SocketRole } from '../../ports/read-models.ts'
import { findLive, type OwnedLive } from '../owned-live.ts'

/**
 * Finds the session of a socket token. Without `liveId` the newest open session of the token is returned, or the newest
 * session if no session is open. None: no session has this token, whatever the lists show.
 *
 * Left `TooManyRequests`: the lists do not show the token, and `mayReadLog` forbids to look it up in the log.
 */
export type ResolveToken = (
  token: string,
  liveId: number | null,
  mayReadLog: () => boolean,
) => Promise<Either<Unavailable | TooManyRequests, Option<ResolvedToken>>>

export interface ResolveTokenDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly store: Pick<EventStore, 'read'>
  readonly findListedToken: FindListedToken
  readonly findUnlistedLive: FindUnlistedLive
}

/** The limits of wrong tokens count by the minute. */
const TOO_MANY = E.left<TooManyRequests>({ _tag: 'TooManyRequests', seconds: 60 })

const anyOwner = (): boolean => true

const roleOf = ({ created: { senderTokenHash, listenerTokenHash } }: OwnedLive, hash: string): SocketRole | null => {
  if (hash === senderTokenHash) return 'sender'
  return hash === listenerTokenHash ? 'listener' : null
}

/**
 * Looks into the lists first. They may lag behind the log, so a token that they do not show is looked up in the log: in
 * the stream of its session, or without `liveId` among the sessions that the list of tokens does not contain yet.
 */
export const resolveToken = (deps: ResolveTokenDeps): ResolveToken => {
  const { credentials, store, findListedToken, findUnlistedLive } = deps
  const find = findLive(store)

  const findInLog = async (hash: string, liveId: number): Promise<Either<Unavailable, Option<ResolvedToken>>> => {
    const live = await find(anyOwner, liveId)
    if (E.isLeft(live)) return live.left._tag === 'LiveNotFound' ? E.right(O.none) : E.left(live.left)
    const role = roleOf(live.right, hash)
    // Sockets treat all open sessions alike.
    const status = live.right.status === 'open' ? 'pending' : live.right.status
    return E.right(role === null ? O.none : O.some({ liveId, role, status }))
  }

  return async (token, liveId, mayReadLog) => {
    const hash = credentials.keyedHash('live-token', token)
    const listed = await findListedToken(hash, liveId)
    const known = E.isRight(listed) ? O.toNullable(listed.right) : null
    if (known !== null && (liveId !== null || isOpen(known))) return listed
    if (!mayReadLog()) return known === null && E.isRight(listed) ? TOO_MANY : listed
    if (liveId !== null) return await findInLog(hash, liveId)
    if (E.isLeft(listed)) return listed
    // A session that is not listed yet is newer than all listed ones.
    const unlisted = await findUnlistedLive(hash)
    if (E.isLeft(unlisted)) return unlisted
    if (O.isNone(unlisted.right)) return listed
    const newer = await findInLog(hash, unlisted.right.value)
    return E.isLeft(newer) || O.isSome(newer.right) ? newer : listed
  }
}
