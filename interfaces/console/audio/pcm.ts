/** The sample rate of the service, in Hz. */
export const SAMPLE_RATE = 16_000
/** Samples in one audio frame: 100 ms. */
export const CHUNK_SAMPLES = SAMPLE_RATE / 10

/**
 * Converts samples from -1 to 1 to the service's 16-bit format. The service needs little endian; all browsers use it.
 */
export const toPcm = (samples: Float32Array): Int16Array<ArrayBuffer> =>
  Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767))

/** Creates a splitter that passes samples on in chunks of 100 ms. `flush` passes on a shorter last chunk. */
export const createChunks = (onChunk: (chunk: Int16Array<ArrayBuffer>) => void) => {
  let held = new Int16Array(0)
  return {
    add: (samples: Int16Array): void => {
      const all = new Int16Array(held.length + samples.length)
      all.set(held)
      all.set(samples, held.length)
      let from = 0
      for (; from + CHUNK_SAMPLES <= all.length; from += CHUNK_SAMPLES) onChunk(all.slice(from, from + CHUNK_SAMPLES))
      held = all.slice(from)
    },
    flush: (): void => {
      if (held.length > 0) onChunk(held)
      held = new Int16Array(0)
    },
  }
}

const SILENCE_DB = -60

/** Returns the loudness in decibels relative to full scale, from -60 to 0. */
export const levelOf = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const level = 10 * Math.log10(sum / Math.max(1, samples.length) / 32_767 ** 2)
  return Math.max(SILENCE_DB, level)
}
