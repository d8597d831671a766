import { Released } from '../../../domain/admission/events.ts'
import { LiveFailed, LiveFinished } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import type { Position, StoredEvent } from '../../ports/event-store.ts'
import type { EndCause } from '../../pipeline/signals.ts'

/** A live reached its terminal state and has given its memory back. */
export interface LiveEnd {
  readonly liveId: number
  readonly cause: EndCause
  /** Of the terminal event: no projection reads the release. */
  readonly position: Position
}

const terminal = reading([LiveFinished, LiveFailed])
const releasedOf = reading([Released])

const endOf = (event: StoredEvent): LiveEnd | undefined => {
  const end = terminal(event)
  if (end === undefined) return undefined
  const [{ liveId }, { position }] = [end.data, event]
  if (end.type === 'LiveFinished') return { liveId, cause: { status: 'finished', reason: end.data.reason }, position }
  const { code, detail } = end.data
  return { liveId, cause: { status: 'error', code, detail }, position }
}

/**
 * Ends of all lives, by whatever process, out of the events of `live-` and `admission` in their order: the end that an
 * event completes, once the terminal event stands and the reservation is released, so that who hears of it (its sockets
 * do) finds the memory free.
 */
export const watchEnds = (): ((event: StoredEvent) => LiveEnd | undefined) => {
  /** Ended, not yet released. */
  const unreleased = new Map<number, LiveEnd>()
  return (event) => {
    const end = endOf(event)
    if (end !== undefined) unreleased.set(end.liveId, end)
    const released = releasedOf(event)
    if (released === undefined) return undefined
    const completed = unreleased.get(released.data.liveId)
    unreleased.delete(released.data.liveId)
    return completed
  }
}
