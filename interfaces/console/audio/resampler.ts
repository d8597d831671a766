/** Half the length of the windowed sinc filter, in samples of the lower rate. */
const LOBES = 16

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))
/** The Blackman window from -1 to 1. */
const windowAt = (x: number): number => 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x)

/**
 * Creates a resampler from one sample rate to another, for audio in consecutive blocks. It removes frequencies above
 * half of the lower rate, because they would come back as false tones (aliasing).
 */
export const createResampler = (from: number, to: number): ((block: Float32Array) => Float32Array) => {
  if (from === to) return (block) => block
  const step = from / to
  const cutoff = Math.min(1, to / from) * 0.95
  const reach = Math.ceil(LOBES / cutoff)
  let held = new Float32Array(reach)
  /** Position of the next output sample, in samples of `held`. */
  let position = reach
  return (block) => {
    const all = new Float32Array(held.length + block.length)
    all.set(held)
    all.set(block, held.length)
    const out: Array<number> = []
    for (; position + reach < all.length; position += step) {
      const centre = Math.floor(position)
      let sum = 0
      for (let i = centre - reach + 1; i <= centre + reach; i += 1) {
        const distance = i - position
        if (Math.abs(distance) > reach) continue
        sum += (all[i] ?? 0) * cutoff * sinc(distance * cutoff) * windowAt(distance / reach)
      }
      out.push(sum)
    }
    const keep = Math.max(0, Math.floor(position) - reach)
    held = all.slice(keep)
    position -= keep
    return Float32Array.from(out)
  }
}
