/** The audio format of the engine port: 16 kHz mono. */
export const SAMPLE_RATE = 16_000

/** A word of a script. */
export interface ScriptedWord {
  readonly text: string
  /** Seconds of silence before the word. */
  readonly pause: number
  /** Seconds for which the word sounds. */
  readonly seconds: number
  /** The text that a draft contains instead, with a low probability. Only for an engine with word times. */
  readonly misheard?: string
  /** Default: `en`. */
  readonly language?: string
}

/** Consecutive samples of one value. */
export interface Run {
  readonly value: number
  readonly from: number
  readonly to: number
}

/** The value of the samples of the first word. Every further word has the next value; silence has the value 0. */
export const FIRST_VALUE = 1000

export const samplesOf = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** Audio whose sample values name the words of the script, so an engine can read them back. */
export const scriptedAudio = (words: ReadonlyArray<ScriptedWord>, trailingSilence = 0): Int16Array => {
  const lengths = words.map(({ pause, seconds }) => [samplesOf(pause), samplesOf(seconds)] as const)
  const total = lengths.reduce((sum, [pause, sound]) => sum + pause + sound, samplesOf(trailingSilence))
  const samples = new Int16Array(total)
  let at = 0
  for (const [index, [pause, sound]] of lengths.entries()) {
    samples.fill(FIRST_VALUE + index, at + pause, at + pause + sound)
    at += pause + sound
  }
  return samples
}

/** The runs of audio that are not silence. */
export const runsOf = (samples: Int16Array): ReadonlyArray<Run> => {
  const runs: Array<Run> = []
  let from = 0
  for (let i = 1; i <= samples.length; i += 1) {
    if (i < samples.length && samples[i] === samples[from]) continue
    if (samples[from] !== 0) runs.push({ value: samples[from] ?? 0, from, to: i })
    from = i
  }
  return runs
}
