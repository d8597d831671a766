import { Released } from '../../../domain/admission/events.ts'
import { causeOf, type EndCause, LiveFailed, LiveFinished } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import type { Position, StoredEvent } from '../../ports/event-store.ts'

/** A session has ended and its memory is released. */
export interface LiveEnd {
  readonly liveId: number
  readonly cause: EndCause
  /**
   * Position of LiveFinished or LiveFailed. It is not the position of the release, because projections do not read
   * releases.
   */
  readonly position: Position
}

const terminalOf = eventReader([LiveFinished, LiveFailed])
const releasedOf = eventReader([Released])

/**
 * Detects ends of sessions in any process. The caller passes all events of the `live-` streams and of `admission`, in
 * the order of the log. An end is returned only after its reservation is released, so a client that receives the end
 * finds the memory free.
 */
export const detectEnds = (): ((event: StoredEvent) => LiveEnd | undefined) => {
  /** Sessions that have ended but are not yet released. */
  const unreleased = new Map<number, LiveEnd>()
  return (event) => {
    const end = terminalOf(event)
    if (end !== undefined) {
      const { liveId } = end.data
      unreleased.set(liveId, { liveId, cause: causeOf(end), position: event.position })
    }
    const released = releasedOf(event)
    if (released === undefined) return undefined
    const completed = unreleased.get(released.data.liveId)
    unreleased.delete(released.data.liveId)
    return completed
  }
}
