import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import type { ErrorCode } from './frames.ts'
import type { BadFrame } from './protocol.ts'

/** D39. */
const BAD_FRAMES = 10
/** A4, rate_limited. */
const CONTROL_FRAMES_PER_SECOND = 20
const AUDIO_FRAMES_PER_SECOND = 200
const AUDIO_WINDOW_MS = 5000
const SMALLEST_MEAN_SAMPLES = 0.005 * SAMPLE_RATE

/** True for the 11th bad frame of a connection. */
export const createBadFrameCounter = (): ((code: BadFrame) => boolean) => {
  let count = 0
  return () => {
    count += 1
    return count > BAD_FRAMES
  }
}

/** True at most once a second for each code (D39). */
export const createErrorThrottle = (monotonic: () => number): ((code: ErrorCode) => boolean) => {
  const last = new Map<ErrorCode, number>()
  return (code) => {
    const now = monotonic()
    if (now - (last.get(code) ?? -Infinity) < 1000) return false
    last.set(code, now)
    return true
  }
}

/** True when a connection sent more than 20 control frames within a second. */
export const createControlLimit = (monotonic: () => number, enabled: boolean): (() => boolean) => {
  let since = -Infinity
  let count = 0
  return () => {
    const now = monotonic()
    if (now - since >= 1000) {
      since = now
      count = 0
    }
    count += 1
    return enabled && count > CONTROL_FRAMES_PER_SECOND
  }
}

/** True when more than 200 frames a second came for 5 s and carried less than 5 ms of audio each on average. */
export const createAudioLimit = (monotonic: () => number, enabled: boolean): ((samples: number) => boolean) => {
  let since = -Infinity
  let frames = 0
  let total = 0
  return (samples) => {
    const elapsed = monotonic() - since
    const over =
      elapsed >= AUDIO_WINDOW_MS && frames / (elapsed / 1000) > AUDIO_FRAMES_PER_SECOND && total / frames < SMALLEST_MEAN_SAMPLES
    if (elapsed >= AUDIO_WINDOW_MS) {
      since = monotonic()
      frames = 0
      total = 0
    }
    frames += 1
    total += samples
    return enabled && over
  }
}
