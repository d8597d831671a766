/** The recent audio of a session, addressed by absolute sample numbers. */
export interface AudioBuffer {
  /** Number of samples that were pushed so far. */
  readonly end: () => number
  readonly push: (samples: Int16Array) => void
  /** Returns a copy of [from, to), as far as the buffer contains it. */
  readonly slice: (from: number, to: number) => Int16Array
  readonly dropBefore: (sample: number) => void
  readonly clear: () => void
}

const MIN_CAPACITY = 16384

/** Grows and shrinks with its content. Uses at most four times the memory of the content. */
export const createAudioBuffer = (): AudioBuffer => {
  let held = new Int16Array(MIN_CAPACITY)
  /** `base`: absolute number of the first sample in `held`. [from, to): the valid range, in absolute numbers. */
  let base = 0
  let from = 0
  let to = 0

  const move = (capacity: number): void => {
    const content = held.subarray(from - base, to - base)
    if (capacity !== held.length) held = new Int16Array(capacity)
    held.set(content)
    base = from
  }

  return {
    end: () => to,
    push: (samples) => {
      if (to - base + samples.length > held.length) move(Math.max(MIN_CAPACITY, 2 * (to - from + samples.length)))
      held.set(samples, to - base)
      to += samples.length
    },
    slice: (first, last) => held.slice(Math.max(first, from) - base, Math.min(last, to) - base),
    dropBefore: (sample) => {
      from = Math.min(to, Math.max(from, sample))
      if (held.length > MIN_CAPACITY && 4 * (to - from) < held.length) move(Math.max(MIN_CAPACITY, 2 * (to - from)))
    },
    clear: () => {
      from = to
      move(MIN_CAPACITY)
    },
  }
}
