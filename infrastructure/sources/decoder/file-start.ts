import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { TimedPcm } from './timed-pcm.ts'

/** Longest silence before the first audio. A file whose audio begins later was cut from a clock of its own. */
const MAX_SECONDS = 600
const PIECE_SECONDS = 10
/** Less is a rounded timestamp. */
const MIN_SECONDS = 0.01

const silence = (begin: number | null, first: number | null): ReadonlyArray<TimedPcm> => {
  if (begin === null || first === null || first - begin < MIN_SECONDS || first - begin > MAX_SECONDS) return []
  const pieces = Math.ceil((first - begin) / PIECE_SECONDS)
  return Array.from({ length: pieces }, (_, index) => {
    const time = begin + index * PIECE_SECONDS
    const seconds = Math.min(PIECE_SECONDS, first - time)
    return { time, pcm: Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * 2) }
  })
}

/**
 * Creates a filter for the pieces of one file, in order. Its first piece is empty and has the time at which the file
 * begins. Silence fills the time until the first audio, so a time of the audio is a time of the file.
 */
export const createFileStart = (): ((audio: TimedPcm) => ReadonlyArray<TimedPcm>) => {
  let begin: number | null = null
  let hasBegun = false
  return (audio) => {
    if (hasBegun) return [audio]
    if (audio.pcm.length === 0) {
      begin = audio.time
      return []
    }
    hasBegun = true
    return [...silence(begin, audio.time), audio]
  }
}
