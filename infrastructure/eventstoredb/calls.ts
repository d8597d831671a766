import { setImmediate } from 'node:timers/promises'
import {
  type BaseOptions, type EventStoreDBClient, MaxAppendSizeExceededError, StreamDeletedError, type StreamingRead,
  StreamNotFoundError, WrongExpectedVersionError,
} from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../application/ports/event-store.ts'
import { collect } from './nodes/channel.ts'
import type { Connection } from './connection.ts'
import { reasonOf, unavailable } from './failures.ts'
import type { Leader } from './leader.ts'
import { TimedOut, withTimeout, type CallTimeouts } from './call-timeouts.ts'

/** Our own timeout fires first. The deadline of the gRPC call follows after this margin, so the call also ends. */
const DEADLINE_MARGIN_MS = 500

/** Calls that only the leader answers, with the timeouts of this process. */
export interface Calls {
  /** Reads everything. A missing or deleted stream is empty; every other error is StoreUnavailable. */
  readonly read: <A>(
    open: (client: EventStoreDBClient, options: BaseOptions) => StreamingRead<A>,
  ) => Promise<E.Either<StoreUnavailable, ReadonlyArray<A>>>
  /** Rejects with the error of the client, or TimedOut. */
  readonly write: <A>(call: (client: EventStoreDBClient, options: BaseOptions) => Promise<A>) => Promise<A>
}

interface Parts {
  readonly leader: Pick<Leader, 'client' | 'failed'>
  readonly credentials: Connection['credentials']
  readonly timeouts: CallTimeouts
}

const isMissingStream = (error: unknown): boolean =>
  error instanceof StreamNotFoundError || error instanceof StreamDeletedError

/** Whether the store answered with this error, as opposed to a lost or missing answer. */
const isAnswer = (error: unknown): boolean =>
  isMissingStream(error) || error instanceof WrongExpectedVersionError || error instanceof MaxAppendSizeExceededError

export const createCalls = ({ leader, credentials, timeouts }: Parts): Calls => {
  const callLeader = async <A>(call: (client: EventStoreDBClient, limitMs: number) => Promise<A>): Promise<A> => {
    const limitMs = timeouts.limit()
    // The call starts in its own turn of the event loop. If a failure closes the channel in the same turn, the client
    // throws an error that nobody can catch.
    await setImmediate()
    const client = leader.client()
    try {
      const answer = await call(client, limitMs)
      timeouts.answered()
      return answer
    } catch (error) {
      if (isAnswer(error)) timeouts.answered()
      else leader.failed(client, error)
      if (error instanceof TimedOut) timeouts.unanswered()
      throw error
    }
  }

  return {
    read: async (open) => {
      try {
        return E.right(await callLeader((client, limitMs) => collect(open(client, { requiresLeader: true }), limitMs)))
      } catch (error) {
        return isMissingStream(error) ? E.right([]) : E.left(unavailable(reasonOf(error)))
      }
    },
    write: (call) =>
      callLeader((client, limitMs) => {
        const deadline = limitMs + DEADLINE_MARGIN_MS
        return withTimeout(limitMs, call(client, { credentials, requiresLeader: true, deadline }))
      }),
  }
}
