import * as E from 'fp-ts/lib/Either.js'
import { createSlots } from '../../concurrency.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ResolveToken } from './resolve-token.ts'

/** Lookups at a time: half of the connections to MongoDB, so projections and keys always get one. */
const AT_ONCE = 8
/** After this wait a lookup is refused. Otherwise a flood of wrong tokens would delay all later sockets. */
const MAX_WAIT_MS = 5000

type Answer = Awaited<ReturnType<ResolveToken>>

interface Lookup {
  /** True once it reads. Until then it waits for its turn. */
  hasBegun: boolean
  readonly answer: Promise<Answer>
}

const OVERLOADED = E.left({ _tag: 'DocumentsUnavailable', reason: 'too many sockets are opened at once' } as const)

/**
 * Shares the lookups of one token and session, so that an audience that connects at once needs few. Sockets that come
 * while a lookup reads share the next one, because the session may be created or deleted meanwhile. No answer is kept.
 */
export const shareLookups = (resolve: ResolveToken, { monotonic }: Pick<Environment, 'monotonic'>): ResolveToken => {
  const inSlot = createSlots(AT_ONCE)
  const lookups = new Map<string, Lookup>()

  return (token, liveId, mayReadLog) => {
    const key = `${liveId ?? ''} ${token}`
    const begin = (): Lookup => {
      const calledAt = monotonic()
      const read = async (): Promise<Answer> => {
        lookup.hasBegun = true
        return monotonic() - calledAt > MAX_WAIT_MS ? OVERLOADED : await resolve(token, liveId, mayReadLog)
      }
      const lookup: Lookup = { hasBegun: false, answer: inSlot(read).finally(() => lookups.delete(key)) }
      lookups.set(key, lookup)
      return lookup
    }
    return (async () => {
      const current = lookups.get(key)
      if (current?.hasBegun === true) await current.answer
      // Another socket may have begun the next lookup.
      return await (lookups.get(key) ?? begin()).answer
    })()
  }
}
