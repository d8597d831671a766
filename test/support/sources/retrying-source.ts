import type { ExecutionContext } from 'ava'
import type { Puller } from '../../../application/ports/audio-source.ts'
import { startLiveSource } from '../../../application/running/live-source.ts'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { ISOLATED } from './pulling.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

/** A source as a session receives it, with its retries. */
export interface RetryingSource {
  /** The samples so far. Lost audio is silent. */
  readonly samples: () => Int16Array
  /** Seconds of received audio. */
  readonly seconds: () => number
  /** `completed`, or the code of the final failure. */
  readonly ends: ReadonlyArray<string>
  /** The codes of failed attempts. */
  readonly codes: () => ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Starts a source that ends with the test. */
export const startRetryingSource = (t: ExecutionContext, url: string): RetryingSource => {
  const pieces: Array<Int16Array> = []
  const ends: Array<string> = []
  let lost = 0
  const logger = createRecordingLogger()
  const startPuller = createPullers({ rules: () => ({ allow: ['127.0.0.1/32'], ownPort: null }), isolation: ISOLATED })
  const source = startLiveSource({
    liveId: 1,
    startPuller: (events): Puller => startPuller(events),
    target: { url, mediaSequence: null },
    timers: systemTimers,
    monotonic: () => performance.now(),
    logger,
    launched: () => undefined,
    audio: (samples, missing) => {
      lost += missing
      pieces.push(new Int16Array(missing), samples)
    },
    delivered: () => undefined,
    backlogSeconds: () => 0,
    completed: () => void ends.push('completed'),
    failed: (code) => void ends.push(code),
  })
  t.teardown(source.stop)
  const length = (): number => pieces.reduce((sum, piece) => sum + piece.length, 0)
  return {
    samples: () => {
      const all = new Int16Array(length())
      let offset = 0
      for (const piece of pieces) {
        all.set(piece, offset)
        offset += piece.length
      }
      return all
    },
    seconds: () => (length() - lost) / 16_000,
    ends,
    codes: () => logger.lines.flatMap(({ fields }) => (typeof fields['code'] === 'string' ? [fields['code']] : [])),
    stop: source.stop,
  }
}
