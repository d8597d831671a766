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
 * A stored end is usually reported from the log, because the log contains the true cause. If that takes longer than
 * this time, the end is reported here.
 */
const REPORT_STORED_END_MS = 1000
/** An end that is not stored within this time is reported anyway, so no sender continues to send unused audio. */
const REPORT_UNSTORED_END_MS = 2000

/** Returns the end of a session whose model or engine failed. */
export const failureCause = (model: string, failure: ModelLoadFailed | JobFailed): EndCause =>
  failure._tag === 'ModelLoadFailed'
    ? { status: 'error', code: 'model_load_failed', detail: `The model could not be loaded: ${model}` }
    : { status: 'error', code: 'engine_failed', detail: 'The transcription engine failed' }

interface EndAppenderOptions {
  readonly liveId: number
  /** Leadership term of this worker for the session. */
  readonly term: number
  readonly lifecycle: Pick<LiveLifecycle, 'endLive'>
  readonly writes: WriteQueue
  readonly bus: Pick<LiveBus, 'publish'>
  readonly timers: Timers
  /** Aborts when the service closes. */
  readonly signal: AbortSignal
  /** Called when the end is stored, but the log has not reported it in time. */
  readonly ended: (cause: EndCause) => void
}

/** Appends the end of a session of this worker. */
export interface EndAppender {
  /**
   * Appends the end after all earlier writes, and retries until it is stored. Only the first cause counts.
   * Resolves to null when the session belongs to another worker.
   */
  readonly end: (cause: EndCause, origin?: Origin | null) => Promise<Ended | null>
  /** Returns whether `end` was called. */
  readonly hasBegun: () => boolean
  /** Call this when the end of the session is known. */
  readonly settle: () => void
}

export const createEndAppender = ({
  liveId, term, lifecycle, writes, bus, timers, signal, ended,
}: EndAppenderOptions): EndAppender => {
  let ending: Promise<Ended | null> | undefined
  let isSettled = false
  let cancel: () => void = () => undefined

  const reportAfter = (ms: number, report: () => void): void => {
    cancel()
    if (!isSettled && !signal.aborted) cancel = timers.after(ms, report)
  }

  const append = async (cause: EndCause, origin: Origin | null): Promise<Ended | null> => {
    reportAfter(REPORT_UNSTORED_END_MS, () => bus.publish(liveId, { kind: 'ended', cause }))
    let position: Position | null = null
    const write = TE.map((reached: Position | null) => {
      position = reached
    })(lifecycle.endLive(liveId, { term, cause, origin }))
    const isDurable = await writes.add('end', write)
    reportAfter(REPORT_STORED_END_MS, () => ended(cause))
    return isDurable ? { position } : null
  }

  return {
    end: async (cause, origin = null) => {
      if (ending !== undefined) return (await ending) && { position: null }
      if (isSettled) return null
      ending = append(cause, origin)
      return await ending
    },
    hasBegun: () => ending !== undefined,
    settle: () => {
      isSettled = true
      cancel()
    },
  }
}
