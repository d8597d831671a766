import { ADMISSION_STREAM, Released } from '../../domain/admission/events.ts'
import { LiveFailed, LiveFinished } from '../../domain/live/events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, Position, StoredEvent } from '../ports/event-store.ts'
import type { EndCause } from '../pipeline/signals.ts'
import { pause, retryDelay } from '../ports/timers.ts'
import type { Timers } from '../ports/timers.ts'

/** A live reached its terminal state and has given its memory back. */
export interface LiveEnd {
  readonly liveId: number
  readonly cause: EndCause
  /** Best effort, at most 2 s: when the lists show it. */
  readonly listed: Promise<void>
}

const RETRY = { first: 100, longest: 5000 }

interface WatchEndsOptions {
  readonly store: Pick<EventStore, 'subscribe'>
  /** The head of the log before the first socket is accepted. */
  readonly from: Position
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  /** Best effort, at most 2 s: until the read models have passed the position. */
  readonly whenProjected: (position: Position) => Promise<void>
}

type Ended = Omit<LiveEnd, 'listed'>

const endOf = (event: StoredEvent): Ended | undefined => {
  if (event.type === LiveFinished.type) {
    const { liveId, reason } = decodeOrThrow(LiveFinished.codec, event.data)
    return { liveId, cause: { status: 'finished', reason } }
  }
  if (event.type === LiveFailed.type) {
    const { liveId, code, detail } = decodeOrThrow(LiveFailed.codec, event.data)
    return { liveId, cause: { status: 'error', code, detail } }
  }
  return undefined
}

/**
 * Ends of all lives, by whatever process: told once the terminal event stands and the reservation is released, so that
 * who hears of an end (its sockets do) finds the memory free. When the store goes away it subscribes again from its own
 * position, with back-off; ends when `signal` aborts.
 */
export async function* watchEnds(options: WatchEndsOptions, signal: AbortSignal): AsyncGenerator<LiveEnd, void, undefined> {
  const { store, logger, environment, timers, whenProjected } = options
  /** Ended, not yet released. */
  const unreleased = new Map<number, { readonly end: Ended; readonly position: Position }>()
  let position = options.from
  let failures = 0

  const read = (event: StoredEvent): Ended | undefined => {
    try {
      return endOf(event)
    } catch (error) {
      // One unreadable event must not keep the ends of all later lives from their sockets.
      logger.error({ stream: event.stream, revision: event.revision, error: String(error) }, 'a terminal event cannot be read')
      return undefined
    }
  }

  /** The end that this event completes. */
  const completed = (event: StoredEvent): LiveEnd | undefined => {
    const end = read(event)
    if (end !== undefined) unreleased.set(end.liveId, { end, position: event.position })
    if (event.type !== Released.type) return undefined
    const liveId = Number(event.data['liveId'])
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
