import { SAMPLE_RATE } from '../../ports/engine.ts'

/** Seconds of silence behind those that end a phrase: the detector hears ends late and beginnings early. */
const SILENCE_BEHIND = 1

/** The time of a live, whose pipeline hears less: where audio was lost it gets a moment of silence. */
export interface LiveClock {
  /** The pipeline is given so many samples. */
  readonly heard: (samples: number) => void
  /**
   * So many samples were lost; what the pipeline is to hear in their place ends a phrase, which `pause` seconds do, and is
   * no longer, however much is missing.
   */
  readonly lost: (samples: number, pause: number) => Int16Array
  /** What comes next is so many samples further on; what lies between was heard by an earlier worker. */
  readonly skip: (samples: number) => void
  /** Samples so far, lost ones too. */
  readonly samples: () => number
  /** When in the live something is that the pipeline heard at `seconds` of its own. */
  readonly at: (seconds: number) => number
}

/** @param begun samples of the live before the first that the pipeline hears */
export const createLiveClock = (begun: number): LiveClock => {
  let given = 0
  let skipped = 0
  /** From which of the pipeline's samples on the live is how many samples ahead of it. */
  const ahead = [{ from: -Infinity, by: begun }]
  return {
    heard: (samples) => { given += samples },
    lost: (samples, pause) => {
      const silence = new Int16Array(Math.min(samples, Math.round((pause + SILENCE_BEHIND) * SAMPLE_RATE)))
      skipped += samples - silence.length
      // What is said before the silence ends in its first half, what is said behind it begins in the second.
      if (samples > silence.length) ahead.push({ from: given + silence.length / 2, by: begun + skipped })
      given += silence.length
      return silence
    },
    skip: (samples) => {
      skipped += samples
      ahead.push({ from: given, by: begun + skipped })
    },
    samples: () => given + skipped,
    at: (seconds) => {
      const by = ahead.findLast(({ from }) => seconds * SAMPLE_RATE >= from)?.by ?? begun
      return by / SAMPLE_RATE + seconds
    },
  }
}
