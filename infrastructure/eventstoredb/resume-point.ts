import { UnknownError, type EventStoreDBClient, type Position as ServerPosition } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, OlderLog, Position, StoreUnavailable } from '../../application/ports/event-store.ts'
import { olderLog, reasonOf, unavailable } from './failures.ts'
import { collect } from './nodes/channel.ts'
import type { Patience } from './patience.ts'
import { fromPosition } from './positions.ts'

/** Position of a record, which need not be an event of ours; `start` is before the first. */
export type ResumePoint = ServerPosition | 'start'

export const isSamePoint = (one: ResumePoint, other: ResumePoint): boolean =>
  one === 'start' || other === 'start' ? one === other : one.commit === other.commit && one.prepare === other.prepare

export interface ResumeParts {
  readonly client: EventStoreDBClient
  /** Aborts when the client's node leads no longer. */
  readonly lost: AbortSignal
  readonly patience: Pick<Patience, 'confirmation'>
  readonly head: EventStore['head']
}

/** What the server says of a position that it does not have, and now and then of what it cannot do at the moment. */
interface Refused {
  readonly _tag: 'Refused'
}

const readBack = async (
  { client, lost, patience }: ResumeParts,
  fromPosition: ServerPosition,
): Promise<E.Either<StoreUnavailable | Refused, ResumePoint>> => {
  try {
    const reading = client.readAll({ direction: 'backwards', fromPosition, maxCount: 1, requiresLeader: true })
    const [before] = await collect(reading, patience.confirmation, lost)
    return E.right(before?.event?.position ?? 'start')
  } catch (error) {
    return E.left(error instanceof UnknownError ? { _tag: 'Refused' } : unavailable(reasonOf(error)))
  }
}

/**
 * The last record before a position: a subscription that begins there tells all that lies behind the position. At the
 * position itself the server skips the first record that it finds, which is another one once a scavenge has taken that
 * of the position. Left OlderLog where the server, which answers for its head, refuses twice to read back from there.
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
    const head = await parts.head()()
    if (E.isLeft(head)) return head
    newest = head.right
  }
  return E.left(olderLog(`the log, whose newest event is at ${newest}, has no position ${position}`))
}
