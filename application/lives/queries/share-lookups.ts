import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createSlots } from '../../concurrency.ts'
import { createLruCache } from '../../lru-cache.ts'
import type { Environment } from '../../ports/environment.ts'
import { isOpenStatus } from './resolve-token.ts'
import type { ResolveToken } from './resolve-token.ts'

/** Milliseconds for which an open session that was found is used again. */
const SHARED_MS = 1000
/** Lookups at a time: half of the connections to MongoDB, so projections and keys always get one. */
const AT_ONCE = 8
/** After this wait a lookup is refused. Otherwise a flood of wrong tokens would delay all later sockets. */
const MAX_WAIT_MS = 5000
/** Recent lookups that are kept. */
const MAX_KEPT = 10_000

type Answer = Awaited<ReturnType<ReturnType<ResolveToken>>>

interface Lookup {
  /** Lookups are numbered in their order. */
  readonly number: number
  /** When its reads began. Null while it waits for its turn. */
  readAt: number | null
  readonly answer: Promise<Answer>
}

const OVERLOADED = E.left({ _tag: 'DocumentsUnavailable', reason: 'too many sockets are opened at once' } as const)

/**
 * Tokens of a session never change, and a socket of a session that has ended meanwhile is closed anyway. Without an id
 * a token may lead to another session a moment later.
 */
const isLasting = (answer: Answer, liveId: number | null): boolean =>
  liveId !== null && E.isRight(answer) && O.isSome(answer.right) && isOpenStatus(answer.right.value)

/**
 * Shares the lookups of one token and session: an audience that connects in one second costs one lookup. An open
 * session that was found by its id is used for the next second too. Every other answer is shared only with calls that
 * came before its lookup began, because another session may have been created meanwhile.
 */
export const shareLookups = (resolve: ResolveToken, { monotonic }: Pick<Environment, 'monotonic'>): ResolveToken => {
  const inSlot = createSlots(AT_ONCE)
  const lookups = createLruCache<string, Lookup>(MAX_KEPT)
  let begun = 0

  return (token, liveId, mayReadLog) => {
    const key = `${liveId ?? ''} ${token}`
    const begin = (): Lookup => {
      const calledAt = monotonic()
      const read = async (): Promise<Answer> => {
        lookup.readAt = monotonic()
        return lookup.readAt - calledAt > MAX_WAIT_MS ? OVERLOADED : await resolve(token, liveId, mayReadLog)()
      }
      begun += 1
      const lookup: Lookup = { number: begun, readAt: null, answer: inSlot(read) }
      lookups.set(key, lookup)
      return lookup
    }
    /** Returns a lookup that began after the given number of lookups. */
    const after = (number: number): Lookup => {
      const latest = lookups.get(key)
      return latest !== undefined && latest.number > number ? latest : begin()
    }
    return async () => {
      const before = begun
      const recent = lookups.get(key)
      const isWaiting = recent !== undefined && recent.readAt === null
      if (recent !== undefined && (recent.readAt === null || monotonic() - recent.readAt < SHARED_MS)) {
        const answer = await recent.answer
        if (isWaiting || isLasting(answer, liveId)) return answer
      }
      return await after(before).answer
    }
  }
}
