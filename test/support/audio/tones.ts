/** Of second n a tone of BASE + n * STEP Hz: what was heard says when it was sent. gst_rtsp_server.py makes the same. */
const BASE = 300
const STEP = 40
const RATE = 16_000
/** Samples that are looked at together: 50 ms. */
const WINDOW = 800

/** Of the tone with that number, in Hz. */
export const toneOf = (number: number): number => BASE + STEP * number

/** A source of ffmpeg's lavfi that begins so many seconds after tone 0. */
export const toneExpression = (offset: number): string =>
  `aevalsrc=0.3*sin(2*PI*(${BASE}+${STEP}*floor(t+${offset.toFixed(3)}))*t):s=${RATE}`

/** Upward crossings of zero, between samples as well. */
const frequencyOf = (samples: Int16Array): number | null => {
  const crossings: Array<number> = []
  for (let at = 1; at < samples.length; at += 1) {
    const [before = 0, after = 0] = [samples[at - 1], samples[at]]
    if (before < 0 && after >= 0) crossings.push(at - 1 + before / (before - after))
  }
  const [first, last] = [crossings[0], crossings.at(-1)]
  const quiet = samples.every((value) => Math.abs(value) < 1000)
  return quiet || first === undefined || last === undefined || last === first ? null : ((crossings.length - 1) * RATE) / (last - first)
}

/** Seconds of every tone that was heard, by its number, in order of first hearing. Windows with no clear tone are left out. */
export const tonesIn = (samples: Int16Array): ReadonlyMap<number, number> => {
  const heard = new Map<number, number>()
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) {
    const frequency = frequencyOf(samples.subarray(at, at + WINDOW))
    const number = frequency === null ? -1 : (frequency - BASE) / STEP
    const whole = Math.round(number)
    if (whole >= 0 && Math.abs(number - whole) < 0.25) heard.set(whole, (heard.get(whole) ?? 0) + WINDOW / RATE)
  }
  return heard
}
