/** The recent audio of a live, addressed by absolute sample numbers. */
export interface AudioBuffer {
  /** Samples pushed so far. */
  readonly end: () => number
  readonly push: (samples: Int16Array) => void
  /** A copy of [from, to) as far as it is held. */
  readonly slice: (from: number, to: number) => Int16Array
  readonly dropBefore: (sample: number) => void
  readonly clear: () => void
}

const SMALLEST = 16384

/** Grows to what is held at once, and shrinks again: no more than four times that much memory. */
export const createAudioBuffer = (): AudioBuffer => {
  let held = new Int16Array(SMALLEST)
  /** Absolute number of the first sample in `held`, and the range of it that counts. */
  let base = 0
  let from = 0
  let to = 0

  const move = (capacity: number): void => {
    const next = new Int16Array(capacity)
    next.set(held.subarray(from - base, to - base))
    held = next
    base = from
  }

  return {
    end: () => to,
    push: (samples) => {
      if (to - base + samples.length > held.length) move(Math.max(SMALLEST, 2 * (to - from + samples.length)))
      held.set(samples, to - base)
      to += samples.length
    },
    slice: (first, last) => held.slice(Math.max(first, from) - base, Math.min(last, to) - base),
    dropBefore: (sample) => {
      from = Math.min(to, Math.max(from, sample))
      if (held.length > SMALLEST && 4 * (to - from) < held.length) move(Math.max(SMALLEST, 2 * (to - from)))
    },
    clear: () => {
      from = to
      move(SMALLEST)
    },
  }
}
