import { SAMPLE_RATE } from '../../ports/engine.ts'

/** Seconds of a live, of which its pipeline hears less: where audio was lost it gets a moment of silence. */
export interface LiveClock {
  /** Samples that the pipeline was given. */
  readonly heard: (samples: number) => void
  /** Samples that were lost, and how many of silence the pipeline is given in their place. */
  readonly lost: (samples: number, silence: number) => void
  /** When in the live something is that the pipeline heard at `seconds` of its own. */
  readonly at: (seconds: number) => number
}

/** @param begun samples of the live before the first that the pipeline hears */
export const createLiveClock = (begun: number): LiveClock => {
  let given = 0
  /** From which of the pipeline's samples on the live is how many samples ahead of it. */
  const ahead = [{ from: -Infinity, by: begun }]
  return {
    heard: (samples) => { given += samples },
    lost: (samples, silence) => {
      const by = (ahead.at(-1)?.by ?? begun) + samples - silence
      // What is said before the silence ends in its first half, what is said behind it begins in the second.
      if (samples > silence) ahead.push({ from: given + silence / 2, by })
      given += silence
    },
    at: (seconds) => {
      const by = ahead.findLast(({ from }) => seconds * SAMPLE_RATE >= from)?.by ?? begun
      return by / SAMPLE_RATE + seconds
    },
  }
}
