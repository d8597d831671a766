import { VAD_FRAME } from '../../ports/engine.ts'
import type { Region } from './speech-segmenter.ts'

/** Part of the loudest frame's level (−26 dB) above which a frame may be speech. */
const RELATIVE = 0.05
/** Root mean square below which nothing is (−66 dB of full scale). */
const FLOOR = 16

const level = (frame: Int16Array): number => Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length)

/** Where audio is loud, where no speech detector tells; `from` is the place of its first sample. */
export const loudRegions = (samples: Int16Array, from: number): ReadonlyArray<Region> => {
  const frames = Array.from({ length: Math.ceil(samples.length / VAD_FRAME) }, (_, i) => level(samples.subarray(i * VAD_FRAME, (i + 1) * VAD_FRAME)))
  const threshold = Math.max(FLOOR, RELATIVE * frames.reduce((loudest, frame) => Math.max(loudest, frame), 0))
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

/** The same for word times: audio without loud frames is one region. */
export const soundingRegions = (samples: Int16Array, from: number): ReadonlyArray<Region> => {
  const loud = loudRegions(samples, from)
  return loud.length > 0 ? loud : [{ start: from, end: from + samples.length }]
}
