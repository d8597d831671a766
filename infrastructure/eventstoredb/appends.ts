import {
  type AppendExpectedRevision, type AppendResult, jsonEvent, type JSONEventData, MaxAppendSizeExceededError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type {
  Appended, EventStore, ExpectedRevision, NewEvent, StoreUnavailable,
} from '../../application/ports/event-store.ts'
import { createOutage } from '../../application/outages.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { requireWellFormed } from '../store-rules/append-outcome.ts'
import type { Calls } from './calls.ts'
import { reasonOf, unavailable } from './failures.ts'
import { toPosition } from './positions.ts'

/** The server's default limit for one append. */
const MAX_BYTES = 1024 * 1024
/**
 * An append with `any` first searches the end of the stream for an earlier attempt of itself. This is the maximum
 * number of events that other writers may have appended after that attempt.
 */
const MAX_LATER_EVENTS = 20

const toServer = (expected: ExpectedRevision): AppendExpectedRevision => {
  if (expected === 'no-stream') return 'no_stream'
  return expected === 'any' ? 'any' : BigInt(expected)
}

/**
 * Converts events for the client. Encodes them here first, because an encoding error inside the client becomes an
 * unhandled rejection. Throws a TypeError on an append that no server can accept.
 */
const encode = (events: ReadonlyArray<NewEvent>): JSONEventData[] => {
  requireWellFormed(events)
  let bytes = 0
  const encoded = events.map(({ id, type, data, metadata }) => {
    const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)]
    bytes += 2 * type.length + Buffer.byteLength(dataText) + Buffer.byteLength(metadataText)
    return jsonEvent({
      id,
      type,
      data: JSON.parse(dataText) as Record<string, unknown>,
      metadata: JSON.parse(metadataText) as Record<string, unknown>,
    })
  })
  if (bytes > MAX_BYTES)
    throw new TypeError(`an append of ${bytes} bytes is larger than the limit of the event store (${MAX_BYTES})`)
  return encoded
}

interface Parts {
  readonly calls: Calls
  readonly reads: Pick<EventStore, 'read' | 'head'>
  readonly logger: Logger | undefined
}

/** Creates the append of the port. It tries once. If the outcome is unknown, the caller repeats the same append. */
export const createAppends = ({ calls, reads, logger }: Parts): EventStore['append'] => {
  /**
   * Searches the end of the stream for these events. This is necessary for `any`: the server remembers the ids of such
   * events only for a while.
   */
  const findAmongLast = async (
    stream: string,
    events: ReadonlyArray<NewEvent>,
  ): Promise<E.Either<StoreUnavailable, Appended | null>> => {
    const tail = await reads.read(stream, { direction: 'backwards', limit: events.length + MAX_LATER_EVENTS })
    if (E.isLeft(tail)) return E.left(unavailable(tail.left.reason))
    const ids = events.map(({ id }) => id).toReversed()
    const start = tail.right.findIndex((_, from) => ids.every((id, index) => tail.right[from + index]?.id === id))
    const last = tail.right[start]
    return E.right(last === undefined ? null : { revision: last.revision, position: last.position })
  }

  /** The server omits the position only in one case: a retry whose events were deleted after the first attempt. */
  const toAppended = async (
    { nextExpectedRevision, position }: AppendResult,
  ): Promise<E.Either<StoreUnavailable, Appended>> => {
    const revision = Number(nextExpectedRevision)
    if (position !== undefined) return E.right({ revision, position: toPosition(position) })
    const head = await reads.head()
    return E.isLeft(head) ? head : E.right({ revision, position: head.right })
  }

  const outage = logger && createOutage(
    { logger, environment: { monotonic: () => performance.now() } },
    'a write to the event store failed',
    'writes to the event store succeed again',
  )

  return async (stream, expected, events) => {
    const encoded = encode(events)
    if (expected === 'any') {
      const earlier = await findAmongLast(stream, events)
      if (E.isLeft(earlier)) return earlier
      if (earlier.right !== null) return E.right(earlier.right)
    }
    try {
      const expectedRevision = toServer(expected)
      const result = await calls.write((client, options) =>
        client.appendToStream(stream, encoded, { ...options, expectedRevision }),
      )
      outage?.ended()
      return await toAppended(result)
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) {
        const { actualVersion } = error
        const actual = typeof actualVersion === 'bigint' && actualVersion >= 0n ? Number(actualVersion) : 'no-stream'
        return E.left({ _tag: 'WrongRevision', stream, actual })
      }
      if (error instanceof MaxAppendSizeExceededError)
        throw new TypeError('an append is larger than the limit of the event store', { cause: error })
      const reason = reasonOf(error)
      outage?.failed(reason, { stream })
      return E.left(unavailable(reason))
    }
  }
}
