/** Samples a second that the service takes. */
export const RATE = 16_000
/** Samples of a frame: 100 ms. */
export const CHUNK = RATE / 10

/** 16-bit samples, as the service takes them; every machine that runs browsers has them in the right order of bytes. */
export const toPcm = (samples: Float32Array): Int16Array<ArrayBuffer> =>
  Int16Array.from(samples, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767))

/** Cuts what comes into pieces of 100 ms; the rest waits for more. */
export const createChunks = (take: (chunk: Int16Array<ArrayBuffer>) => void) => {
  let held = new Int16Array(0)
  return {
    add: (samples: Int16Array): void => {
      const all = new Int16Array(held.length + samples.length)
      all.set(held)
      all.set(samples, held.length)
      let from = 0
      for (; from + CHUNK <= all.length; from += CHUNK) take(all.slice(from, from + CHUNK))
      held = all.slice(from)
    },
    flush: (): void => {
      if (held.length > 0) take(held)
      held = new Int16Array(0)
    },
  }
}

const SILENCE_DB = -60

/** Loudness in decibels below full scale, -60 at least. */
export const levelOf = (samples: Int16Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  const level = 10 * Math.log10(sum / Math.max(1, samples.length) / 32_767 ** 2)
  return Math.max(SILENCE_DB, level)
}
