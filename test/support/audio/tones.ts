/**
 * Second n of the audio is a tone of BASE + n * STEP Hz, so the frequency of received audio shows when it was sent.
 * gst_rtsp_server.py makes the same tones.
 */
const BASE = 300
const STEP = 40
const RATE = 16_000
/** Samples that are analysed together: 50 ms. */
const WINDOW = 800

/** The frequency of tone n in Hz. */
export const toneOf = (number: number): number => BASE + STEP * number

/** An expression for ffmpeg's lavfi: the tones from `offset` seconds on. */
export const toneExpression = (offset: number): string =>
  `aevalsrc=0.3*sin(2*PI*(${BASE}+${STEP}*floor(t+${offset.toFixed(3)}))*t):s=${RATE}`

/** Measures a frequency by the upward zero crossings, interpolated between samples. Null: quiet or not a tone. */
const frequencyOf = (samples: Int16Array): number | null => {
  const crossings: Array<number> = []
  for (let index = 1; index < samples.length; index += 1) {
    const [before = 0, after = 0] = [samples[index - 1], samples[index]]
    if (before < 0 && after >= 0) crossings.push(index - 1 + before / (before - after))
  }
  const [first, last] = [crossings[0], crossings.at(-1)]
  const isQuiet = samples.every((value) => Math.abs(value) < 1000)
  if (isQuiet || first === undefined || last === undefined || last === first) return null
  return ((crossings.length - 1) * RATE) / (last - first)
}

/** Returns the seconds of each tone by its number, in order of first occurrence. Skips windows without a clear tone. */
export const tonesIn = (samples: Int16Array): ReadonlyMap<number, number> => {
  const tones = new Map<number, number>()
  for (let start = 0; start + WINDOW <= samples.length; start += WINDOW) {
    const frequency = frequencyOf(samples.subarray(start, start + WINDOW))
    const number = frequency === null ? -1 : (frequency - BASE) / STEP
    const whole = Math.round(number)
    if (whole >= 0 && Math.abs(number - whole) < 0.25) tones.set(whole, (tones.get(whole) ?? 0) + WINDOW / RATE)
  }
  return tones
}
