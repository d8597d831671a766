import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Ended } from '../lives/end-by-worker.ts'
import type { Origin } from '../log/origin.ts'
import type { EndCause, LiveBus } from '../pipeline/signals.ts'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'
import type { Position } from '../ports/event-store.ts'
import type { Timers } from '../ports/timers.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import type { WriteQueue } from './write-queue.ts'

/**
 * How long an end that is durable waits for the log to tell it, which knows the true cause, before we tell it
 * ourselves.
 */
const END_PATIENCE = 1000
/** How long it waits for a store that is away: nobody is to speak for long to a live that hears nothing any more. */
const LATE_END = 2000

/** How a live ends whose engine gave it up. */
export const failureCause = (model: string, failure: ModelLoadFailed | JobFailed): EndCause =>
  failure._tag === 'ModelLoadFailed'
    ? { status: 'error', code: 'model_load_failed', detail: `The model could not be loaded: ${model}` }
    : { status: 'error', code: 'engine_failed', detail: 'The transcription engine failed' }

interface OwnEndOptions {
  readonly liveId: number
  readonly term: number
  readonly lifecycle: Pick<LiveLifecycle, 'endLive'>
  readonly writes: WriteQueue
  readonly bus: Pick<LiveBus, 'publish'>
  readonly timers: Timers
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
  /** It is durable, and the log has not told it in time. */
  readonly ended: (cause: EndCause) => void
}

/** The end that this worker gives a live. */
export interface OwnEnd {
  /**
   * Appends the terminal event behind all writes before it, for as long as that takes; only the first cause counts.
   * Resolves once the live has ended, to null where it is no longer this worker's to end.
   */
  readonly end: (cause: EndCause, origin?: Origin | null) => Promise<Ended | null>
  readonly hasBegun: () => boolean
  /** The terminal event is known. */
  readonly settle: () => void
}

export const createOwnEnd = ({
  liveId, term, lifecycle, writes, bus, timers, signal, ended,
}: OwnEndOptions): OwnEnd => {
  let ending: Promise<Ended | null> | undefined
  let settled = false
  let cancel: () => void = () => undefined

  const within = (ms: number, tell: () => void): void => {
    cancel()
    if (!settled && !signal.aborted) cancel = timers.after(ms, tell)
  }

  const append = async (cause: EndCause, origin: Origin | null): Promise<Ended | null> => {
    within(LATE_END, () => bus.publish(liveId, { kind: 'ended', cause }))
    let position: Position | null = null
    const write = TE.map((reached: Position | null) => {
      position = reached
    })(lifecycle.endLive(liveId, { term, cause, origin }))
    const isDurable = await writes.add('end', write)
    within(END_PATIENCE, () => ended(cause))
    return isDurable ? { position } : null
  }

  return {
    end: async (cause, origin = null) => {
      if (ending !== undefined) return (await ending) && { position: null }
      if (settled) return null
      ending = append(cause, origin)
      return await ending
    },
    hasBegun: () => ending !== undefined,
    settle: () => {
      settled = true
      cancel()
    },
  }
}
