import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { JobFailed, SpeechEngine, VadState } from '../../ports/engine.ts'
import { pause } from '../../waiting.ts'
import type { Timers } from '../../ports/timers.ts'
import type { CallOff } from '../call-off.ts'

/** Failures in a row before the live is given up, and the wait after the first one, which doubles. */
const ATTEMPTS = 4
const RETRY_MS = 250

/**
 * The voice activity detector of one live. It asks again with the same state while the engine fails, for a restart of
 * the engine loses nothing; null once it is called off.
 */
export const createVoiceDetection = (
  engine: Pick<SpeechEngine, 'detectSpeech'>,
  timers: Timers,
  { orNull }: CallOff,
): ((frames: Int16Array) => Promise<Either<JobFailed, Float32Array> | null>) => {
  let state: VadState = null
  return async (frames) => {
    for (let attempt = 1; ; attempt += 1) {
      const judged = await orNull(engine.detectSpeech(frames, state))
      if (judged === null) return null
      if (E.isRight(judged)) {
        state = judged.right.state
        return E.right(judged.right.probabilities)
      }
      if (attempt === ATTEMPTS) return judged
      await orNull(() => pause(timers, RETRY_MS * 2 ** (attempt - 1)))
    }
  }
}
