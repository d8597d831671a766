import { StreamDeletedError, StreamNotFoundError, type EventStoreDBClient, type StreamingRead } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore, type StoredEvent, type StoreUnavailable } from '../../application/ports/event-store.ts'
import { reasonOf, unavailable } from './failures.ts'
import { startAlarm, TimedOut, type Patience } from './patience.ts'
import { toPosition } from './positions.ts'
import { toStoredEvent } from './stored-event.ts'

const ignore = (): void => undefined

/**
 * All that a read delivers. Reads ignore the client's deadline, so a silence as long as the limit ends it, and leaving
 * the loop does not end the call on the server, so it is cancelled. An error that comes later finds a listener: without
 * one it would end the process.
 */
export const collect = async <A>(reading: StreamingRead<A>, limit: number): Promise<ReadonlyArray<A>> => {
  const items: A[] = []
  reading.on('error', ignore)
  const alarm = startAlarm(limit, () => reading.destroy(new TimedOut(limit)))
  try {
    // The stream carries nothing else.
    for await (const item of reading as AsyncIterable<A>) {
      items.push(item)
      alarm.restart()
    }
    return items
  } finally {
    alarm.stop()
    if (!reading.readableEnded) reading.cancel().catch(ignore)
  }
}

const isAbsent = (error: unknown): boolean => error instanceof StreamNotFoundError || error instanceof StreamDeletedError

/** Runs one read: a stream that does not exist (any more) has nothing, every other error is the store being away. */
export const collectOrFail = async <A>(patience: Patience, read: () => StreamingRead<A>): Promise<E.Either<StoreUnavailable, ReadonlyArray<A>>> => {
  try {
    const items = await collect(read(), patience.limit())
    patience.answered()
    return E.right(items)
  } catch (error) {
    if (isAbsent(error)) {
      patience.answered()
      return E.right([])
    }
    if (error instanceof TimedOut) patience.unanswered()
    return E.left(unavailable(reasonOf(error)))
  }
}

/** The reading half of the port. */
export const createReads = (client: EventStoreDBClient, patience: Patience): Pick<EventStore, 'read' | 'head'> => ({
  read: (stream, { from, direction = 'forwards', limit } = {}) => async () => {
    // The server refuses to read no events.
    if (limit === 0) return E.right([])
    const end = direction === 'forwards' ? 'start' : 'end'
    const fromRevision = from === undefined ? end : BigInt(from)
    const found = await collectOrFail(patience, () =>
      client.readStream(stream, { direction, fromRevision, ...(limit === undefined ? {} : { maxCount: limit }) }),
    )
    if (E.isLeft(found)) return found
    const events: StoredEvent[] = []
    for (const { event } of found.right) {
      const stored = toStoredEvent(event)
      if (E.isLeft(stored)) return stored
      events.push(stored.right)
    }
    return E.right(events)
  },

  head: () => async () => {
    const found = await collectOrFail(patience, () => client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }))
    if (E.isLeft(found)) return found
    const newest = found.right[0]?.event?.position
    return E.right(newest === undefined ? BEGINNING : toPosition(newest))
  },
})
