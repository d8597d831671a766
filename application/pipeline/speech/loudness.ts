import { VAD_FRAME } from '../../ports/engine.ts'
import type { Region } from './speech-segmenter.ts'

/** A frame may be speech above this share of the loudest frame's level (−26 dB). */
const RELATIVE_THRESHOLD = 0.05
/** Frames below this root mean square (−66 dB of full scale) are silence. */
const MIN_LEVEL = 16

const level = (frame: Int16Array): number =>
  Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length)

/** Finds loud regions, for audio without a speech detector. `from`: number of the first sample. */
export const loudRegions = (samples: Int16Array, from: number): ReadonlyArray<Region> => {
  const frames = Array.from({ length: Math.ceil(samples.length / VAD_FRAME) }, (_, i) =>
    level(samples.subarray(i * VAD_FRAME, (i + 1) * VAD_FRAME)))
  const loudest = frames.reduce((maximum, frame) => Math.max(maximum, frame), 0)
  const threshold = Math.max(MIN_LEVEL, RELATIVE_THRESHOLD * loudest)
  const regions: Array<Region> = []
  for (const [i, frame] of frames.entries()) {
    if (frame < threshold) continue
    const [start, end] = [from + i * VAD_FRAME, from + Math.min(samples.length, (i + 1) * VAD_FRAME)]
    const last = regions.at(-1)
    if (last?.end === start) regions[regions.length - 1] = { start: last.start, end }
    else regions.push({ start, end })
  }
  return regions
}

/** Finds loud regions for word times. Audio without loud frames is one region. */
export const soundingRegions = (samples: Int16Array, from: number): ReadonlyArray<Region> => {
  const loud = loudRegions(samples, from)
  return loud.length > 0 ? loud : [{ start: from, end: from + samples.length }]
}
