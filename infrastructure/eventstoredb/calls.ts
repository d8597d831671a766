import { setImmediate } from 'node:timers/promises'
import { MaxAppendSizeExceededError, StreamDeletedError, StreamNotFoundError, WrongExpectedVersionError } from '@eventstore/db-client'
import type { BaseOptions, EventStoreDBClient, StreamingRead } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../application/ports/event-store.ts'
import { collect } from './nodes/channel.ts'
import type { Connection } from './connection.ts'
import { reasonOf, unavailable } from './failures.ts'
import type { Leader } from './leader.ts'
import { TimedOut, within, type Patience } from './patience.ts'

/** The alarm rings first, with the patience of this process; the call itself ends soon after. */
const DEADLINE_MARGIN_MS = 500

/** Calls on the leader, which says so with each answer, within the patience of this process. */
export interface Calls {
  /** All that a read delivers: a stream that does not exist (any more) has nothing, every other error is the store being away. */
  readonly read: <A>(open: (client: EventStoreDBClient, options: BaseOptions) => StreamingRead<A>) => Promise<E.Either<StoreUnavailable, ReadonlyArray<A>>>
  /** Rejects with what the client says, or TimedOut. */
  readonly write: <A>(call: (client: EventStoreDBClient, options: BaseOptions) => Promise<A>) => Promise<A>
}

interface Parts {
  readonly leader: Pick<Leader, 'client' | 'failed'>
  readonly credentials: Connection['credentials']
  readonly patience: Patience
}

const isAbsent = (error: unknown): boolean => error instanceof StreamNotFoundError || error instanceof StreamDeletedError

/** Whether the store said this, and not the want of an answer. */
const isAnswer = (error: unknown): boolean =>
  isAbsent(error) || error instanceof WrongExpectedVersionError || error instanceof MaxAppendSizeExceededError

export const createCalls = ({ leader, credentials, patience }: Parts): Calls => {
  const ask = async <A>(call: (client: EventStoreDBClient, limit: number) => Promise<A>): Promise<A> => {
    const limit = patience.limit()
    // A call that begins in the same turn in which another one's failure closes the channel throws where nobody
    // catches it. In a turn of its own it cannot.
    await setImmediate()
    const client = leader.client()
    try {
      const answer = await call(client, limit)
      patience.answered()
      return answer
    } catch (error) {
      if (isAnswer(error)) patience.answered()
      else leader.failed(client, error)
      if (error instanceof TimedOut) patience.unanswered()
      throw error
    }
  }

  return {
    read: async (open) => {
      try {
        return E.right(await ask((client, limit) => collect(open(client, { requiresLeader: true }), limit)))
      } catch (error) {
        return isAbsent(error) ? E.right([]) : E.left(unavailable(reasonOf(error)))
      }
    },
    write: (call) =>
      ask((client, limit) => within(limit, call(client, { credentials, requiresLeader: true, deadline: limit + DEADLINE_MARGIN_MS }))),
  }
}
