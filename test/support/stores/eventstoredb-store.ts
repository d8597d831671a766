import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { eventually } from '../tools/eventually.ts'
import { startEventStoreDb, type TestEventStoreDb } from './eventstoredb.ts'

/** Timeouts that suit a busy machine, in milliseconds. */
export const LIMITS = { usual: 3000, short: 1000, suspicion: 0, confirmation: 3000 }

/** Starts an EventStoreDB, and an event store with the given timeouts. */
export const startEventStore = async (
  t: ExecutionContext,
  limits = LIMITS,
): Promise<{ readonly double: TestEventStoreDb; readonly store: EventStore }> => {
  const double = await startEventStoreDb()
  t.teardown(double.dispose)
  const store = await openEventStoreDb({ url: double.url, limits })
  t.teardown(store.close)
  return { double, store }
}

/** Returns the tag of a left value, or `right`. */
export const tagOf = (answer: E.Either<{ readonly _tag: string }, unknown>): string =>
  E.isLeft(answer) ? answer.left._tag : 'right'

/** Repeats a read until it succeeds, for at most five minutes. */
export const eventuallyRight = <A>(read: () => Promise<E.Either<unknown, A>>): Promise<A> =>
  eventually(async () => {
    const answer = await read()
    if (E.isLeft(answer)) throw new Error(`still unavailable: ${JSON.stringify(answer.left)}`)
    return answer.right
  }, { timeoutMs: 300_000 })
