import { UnknownError, type EventStoreDBClient, type Position as ServerPosition } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, OlderLog, Position, StoreUnavailable } from '../../application/ports/event-store.ts'
import { olderLog, reasonOf, unavailable } from './failures.ts'
import { collect } from './nodes/channel.ts'
import type { CallTimeouts } from './call-timeouts.ts'
import { fromPosition } from './positions.ts'

/** Position of any record of the log, also of the server's own records; `start` is before the first record. */
export type ResumePoint = ServerPosition | 'start'

export const isSamePoint = (a: ResumePoint, b: ResumePoint): boolean =>
  a === 'start' || b === 'start' ? a === b : a.commit === b.commit && a.prepare === b.prepare

export interface ResumeParts {
  readonly client: EventStoreDBClient
  /** Aborts when the client's node stops leading. */
  readonly lost: AbortSignal
  readonly timeouts: Pick<CallTimeouts, 'confirmation'>
  readonly head: EventStore['head']
}

/** The server's answer to an unknown position, and sometimes to a request that it cannot serve at the moment. */
interface Refused {
  readonly _tag: 'Refused'
}

const readBack = async (
  { client, lost, timeouts }: ResumeParts,
  fromPosition: ServerPosition,
): Promise<E.Either<StoreUnavailable | Refused, ResumePoint>> => {
  try {
    const reading = client.readAll({ direction: 'backwards', fromPosition, maxCount: 1, requiresLeader: true })
    const [before] = await collect(reading, timeouts.confirmation, lost)
    return E.right(before?.event?.position ?? 'start')
  } catch (error) {
    return E.left(error instanceof UnknownError ? { _tag: 'Refused' } : unavailable(reasonOf(error)))
  }
}

/**
 * Returns the last record before a position. A subscription skips the first record that it finds, so it must start at
 * this earlier record. At the position itself it could lose an event: if a scavenge (the server's cleanup) has removed
 * the record of the position, the skipped record is the next event.
 *
 * Left OlderLog: the server twice refused this position, although it could read the end of the log.
 */
export const resumePointOf = async (
  parts: ResumeParts,
  position: Position,
): Promise<E.Either<StoreUnavailable | OlderLog, ResumePoint>> => {
  const from = fromPosition(position)
  if (from === 'start') return E.right(from)
  let newest = ''
  for (let tries = 0; tries < 2; tries++) {
    const point = await readBack(parts, from)
    if (E.isRight(point)) return point
    if (point.left._tag === 'StoreUnavailable') return E.left(point.left)
    const head = await parts.head()
    if (E.isLeft(head)) return head
    newest = head.right
  }
  return E.left(olderLog(`the log has no position ${position}; its newest event is at ${newest}`))
}
