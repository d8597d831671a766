import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import type { ErrorCode } from './frames.ts'
import type { BadFrame } from './protocol.ts'

/** Invalid frames that a connection may send. */
const MAX_BAD_FRAMES = 10
const MAX_CONTROL_FRAMES_PER_SECOND = 20
const MAX_AUDIO_FRAMES_PER_SECOND = 200
const AUDIO_WINDOW_MS = 5000
/** Minimum mean duration of audio frames: 5 ms, in samples. */
const MIN_MEAN_SAMPLES = 0.005 * SAMPLE_RATE

/** Returns a function that counts one bad frame of a connection. It returns true from the 11th bad frame. */
export const createBadFrameCounter = (): ((code: BadFrame) => boolean) => {
  let count = 0
  return () => {
    count += 1
    return count > MAX_BAD_FRAMES
  }
}

/** Returns a check that allows each error code once a second. */
export const createErrorThrottle = (monotonic: () => number): ((code: ErrorCode) => boolean) => {
  const lastSentAt = new Map<ErrorCode, number>()
  return (code) => {
    const now = monotonic()
    if (now - (lastSentAt.get(code) ?? -Infinity) < 1000) return false
    lastSentAt.set(code, now)
    return true
  }
}

/** Returns a function that counts one control frame. It returns true above 20 control frames within a second. */
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
    return enabled && count > MAX_CONTROL_FRAMES_PER_SECOND
  }
}

/**
 * Returns a function that counts one audio frame. It returns true above the limit: more than 200 frames a second over
 * 5 s, if their mean duration is also below 5 ms.
 */
export const createAudioLimit = (monotonic: () => number, enabled: boolean): ((samples: number) => boolean) => {
  let since = -Infinity
  let frames = 0
  let totalSamples = 0
  return (samples) => {
    const elapsed = monotonic() - since
    const isFrequent = frames / (elapsed / 1000) > MAX_AUDIO_FRAMES_PER_SECOND
    const isOver = elapsed >= AUDIO_WINDOW_MS && isFrequent && totalSamples / frames < MIN_MEAN_SAMPLES
    if (elapsed >= AUDIO_WINDOW_MS) {
      since = monotonic()
      frames = 0
      totalSamples = 0
    }
    frames += 1
    totalSamples += samples
    return enabled && isOver
  }
}
