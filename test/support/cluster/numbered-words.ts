import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { scriptedAudio, type ScriptedWord } from '../doubles/scripted/script.ts'
import { scriptedEngine, type ScriptedEngine } from '../doubles/scripted/engine.ts'

/** Enough for hours. Sample values limit the number of words. */
const WORDS = 20_000
const WORD_SECONDS = 0.3
const PAUSE_SECONDS = 0.1
/** The words of a phrase. A longer pause follows, so the phrase becomes final. */
const WORDS_PER_PHRASE = 5
const PHRASE_PAUSE_SECONDS = 0.7

/** The words `w1`, `w2`, … */
const NUMBERED: ReadonlyArray<ScriptedWord> = Array.from({ length: WORDS }, (_, i) => ({
  text: `w${i + 1}`,
  seconds: WORD_SECONDS,
  pause: i % WORDS_PER_PHRASE === 0 ? PHRASE_PAUSE_SECONDS : PAUSE_SECONDS,
}))

/** Audio of the first words. Its samples name their word, so any part of it can be transcribed. */
export const numberedAudio = (words: number): Int16Array => scriptedAudio(NUMBERED.slice(0, words), 1)

/** An engine that transcribes numbered words. */
export const numberedEngine = (): ScriptedEngine =>
  scriptedEngine({ words: NUMBERED, passSeconds: 0.01, parallelism: 2, hasWordTimes: true, isForgetful: true })

/** A word and the sample at which it begins. The pause before the word belongs to it. */
export interface WordPlace {
  readonly number: number
  readonly from: number
}

/** Returns the first word that begins at this sample or later. */
export const wordAfter = (samples: number): WordPlace => {
  let [from, count] = [0, 0]
  for (const { pause, seconds } of NUMBERED) {
    if (from >= samples) break
    from += Math.round(pause * SAMPLE_RATE) + Math.round(seconds * SAMPLE_RATE)
    count += 1
  }
  return { number: count + 1, from }
}

/** Returns the numbers of the complete words in a text. */
export const numbersIn = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/(?<!~)w(\d+)(?![\d~])/gi)].map(([, number]) => Number(number))

/** The length of the audio of this many words, in seconds. */
export const secondsOf = (words: number): number => numberedAudio(words).length / SAMPLE_RATE
