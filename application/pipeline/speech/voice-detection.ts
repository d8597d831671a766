import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type JobFailed, type SpeechEngine, VAD_FRAME, type VadState } from '../../ports/engine.ts'
import { pause } from '../../waiting.ts'
import type { Timers } from '../../ports/timers.ts'
import type { Cancellation } from '../cancellation.ts'
import type { AudioBuffer } from './audio-buffer.ts'

/** Number of attempts before the session fails. */
const MAX_ATTEMPTS = 4
/** Wait after the first failure. It doubles with each further failure. */
const RETRY_MS = 250

/** Maximum number of frames in one call of the detector: four seconds. */
const MAX_FRAMES = 125

/**
 * Returns the samples for one call of the detector: whole frames from sample `clock` on. Returns an empty array until
 * MAX_FRAMES or the sample `nextDetection` is reached. At the end of the audio the last frame is filled with silence.
 */
export const framesToJudge = (
  audio: Pick<AudioBuffer, 'end' | 'slice'>,
  clock: number,
  nextDetection: number,
  isEnded: boolean,
): Int16Array => {
  const samples = audio.end() - clock
  const whole = Math.min(MAX_FRAMES, Math.floor(samples / VAD_FRAME))
  const isWorthIt = isEnded || whole === MAX_FRAMES || clock + whole * VAD_FRAME >= nextDetection
  if (whole > 0 && isWorthIt) return audio.slice(clock, clock + whole * VAD_FRAME)
  const rest = new Int16Array(isEnded && samples > 0 ? VAD_FRAME : 0)
  if (rest.length > 0) rest.set(audio.slice(clock, audio.end()))
  return rest
}

/**
 * Creates the speech detector of one session. Retries with the same state when the engine fails, so an engine restart
 * loses no audio. Returns null when cancelled.
 */
export const createVoiceDetection = (
  engine: Pick<SpeechEngine, 'detectSpeech'>,
  timers: Timers,
  { orNull }: Cancellation,
): ((frames: Int16Array) => Promise<Either<JobFailed, Float32Array> | null>) => {
  let state: VadState = null
  return async (frames) => {
    for (let attempt = 1; ; attempt += 1) {
      const judged = await orNull(() => engine.detectSpeech(frames, state))
      if (judged === null) return null
      if (E.isRight(judged)) {
        state = judged.right.state
        return E.right(judged.right.probabilities)
      }
      if (attempt === MAX_ATTEMPTS) return judged
      await orNull(() => pause(timers, RETRY_MS * 2 ** (attempt - 1)))
    }
  }
}
