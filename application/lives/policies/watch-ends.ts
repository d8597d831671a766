import { ADMISSION_STREAM, Released } from '../../../domain/admission/events.ts'
import { LiveFailed, LiveFinished } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { EventStore, Position, StoredEvent } from '../../ports/event-store.ts'
import type { Projector } from '../../ports/projector.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import { pause, retryDelay } from '../../waiting.ts'
import type { Timers } from '../../ports/timers.ts'

/** A live reached its terminal state and has given its memory back. */
export interface LiveEnd {
  readonly liveId: number
  readonly cause: EndCause
  /** Best effort, at most 2 s: when the lists show it. */
  readonly listed: Promise<void>
}

const RETRY = { first: 100, longest: 5000 }

interface WatchEndsOptions extends Pick<Projector, 'whenProjected'> {
  readonly store: Pick<EventStore, 'subscribe'>
  /** The head of the log before the first socket is accepted. */
  readonly from: Position
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
}

type Ended = Omit<LiveEnd, 'listed'>

const terminal = reading([LiveFinished, LiveFailed])
const releasedOf = reading([Released])

const endOf = (event: StoredEvent): Ended | undefined => {
  const end = terminal(event)
  if (end === undefined) return undefined
  const { liveId } = end.data
  if (end.type === 'LiveFinished') return { liveId, cause: { status: 'finished', reason: end.data.reason } }
  const { code, detail } = end.data
  return { liveId, cause: { status: 'error', code, detail } }
}

/**
 * Ends of all lives, by whatever process: told once the terminal event stands and the reservation is released, so that
 * who hears of an end (its sockets do) finds the memory free. When the store goes away it subscribes again from its own
 * position, with back-off; ends when `signal` aborts.
 */
export async function* watchEnds(
  options: WatchEndsOptions,
  signal: AbortSignal,
): AsyncGenerator<LiveEnd, void, undefined> {
  const { store, logger, environment, timers, whenProjected } = options
  /** Ended, not yet released. */
  const unreleased = new Map<number, { readonly end: Ended; readonly position: Position }>()
  let position = options.from
  let failures = 0

  /** The end that this event completes. */
  const completed = (event: StoredEvent): LiveEnd | undefined => {
    const end = endOf(event)
    if (end !== undefined) unreleased.set(end.liveId, { end, position: event.position })
    const released = releasedOf(event)
    if (released === undefined) return undefined
    const { liveId } = released.data
    const waiting = unreleased.get(liveId)
    if (waiting === undefined) return undefined
    unreleased.delete(liveId)
    // Not the release's position: no projection reads it.
    return { ...waiting.end, listed: whenProjected(waiting.position) }
  }

  while (!signal.aborted) {
    try {
      for await (const message of store.subscribe(position, ['live-', ADMISSION_STREAM], signal)) {
        failures = 0
        const end = message.kind === 'event' ? completed(message.event) : undefined
        if (end !== undefined) yield end
        position = message.kind === 'event' ? message.event.position : message.position
      }
    } catch (error) {
      if (!signal.aborted) logger.warn({ failures, error: String(error) }, 'the subscription to lives was lost')
    }
    await pause(timers, retryDelay(RETRY, failures++, environment.random()), signal)
  }
}
