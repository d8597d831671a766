import { SAMPLE_RATE } from '../../ports/engine.ts'

/** Added to the silence that ends a phrase, because the detector reports the end of speech late and its start early. */
const EXTRA_SILENCE_SECONDS = 1

/** The clock of a session. The pipeline receives fewer samples, because a short silence replaces lost audio. */
export interface LiveClock {
  readonly received: (samples: number) => void
  /**
   * Records lost samples. Returns the silence for the pipeline. It is just long enough to end a phrase (`pause`
   * seconds), even if more audio is missing.
   */
  readonly lost: (samples: number, pause: number) => Int16Array
  /** Records that the next audio begins `samples` samples later. An earlier worker received the samples in between. */
  readonly skip: (samples: number) => void
  /** Converts seconds of the pipeline into seconds of the session. */
  readonly at: (seconds: number) => number
}

/** @param begun number of samples of the session before the first sample of the pipeline */
export const createLiveClock = (begun: number): LiveClock => {
  let given = 0
  let skipped = 0
  /** From the pipeline's sample `from` on, the session is `by` samples ahead of the pipeline. */
  const offsets = [{ from: -Infinity, by: begun }]
  return {
    received: (samples) => { given += samples },
    lost: (samples, pause) => {
      const silence = new Int16Array(Math.min(samples, Math.round((pause + EXTRA_SILENCE_SECONDS) * SAMPLE_RATE)))
      skipped += samples - silence.length
      // The offset changes in the middle of the silence, because no speech reaches that point.
      if (samples > silence.length) offsets.push({ from: given + silence.length / 2, by: begun + skipped })
      given += silence.length
      return silence
    },
    skip: (samples) => {
      skipped += samples
      offsets.push({ from: given, by: begun + skipped })
    },
    at: (seconds) => {
      const by = offsets.findLast(({ from }) => seconds * SAMPLE_RATE >= from)?.by ?? begun
      return by / SAMPLE_RATE + seconds
    },
  }
}
