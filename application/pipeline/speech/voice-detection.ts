import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { VAD_FRAME } from '../../ports/engine.ts'
import type { JobFailed, SpeechEngine, VadState } from '../../ports/engine.ts'
import { pause } from '../../waiting.ts'
import type { Timers } from '../../ports/timers.ts'
import type { CallOff } from '../call-off.ts'
import type { AudioBuffer } from './audio-buffer.ts'

/** Failures in a row before the live is given up, and the wait after the first one, which doubles. */
const ATTEMPTS = 4
const RETRY_MS = 250

/** Frames that one call of the detector judges at most: four seconds. */
const MOST_FRAMES = 125

/**
 * The frames from `clock` on, once there are as many as a call takes, or all up to `nextLook`. At the end of the audio the last one
 * is filled up with silence.
 */
export const framesToJudge = (audio: Pick<AudioBuffer, 'end' | 'slice'>, clock: number, nextLook: number, isEnded: boolean): Int16Array => {
  const samples = audio.end() - clock
  const whole = Math.min(MOST_FRAMES, Math.floor(samples / VAD_FRAME))
  const isWorthIt = isEnded || whole === MOST_FRAMES || clock + whole * VAD_FRAME >= nextLook
  if (whole > 0 && isWorthIt) return audio.slice(clock, clock + whole * VAD_FRAME)
  const rest = new Int16Array(isEnded && samples > 0 ? VAD_FRAME : 0)
  if (rest.length > 0) rest.set(audio.slice(clock, audio.end()))
  return rest
}

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
