import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { scriptedAudio } from '../doubles/scripted/script.ts'
import { scriptedEngine } from '../doubles/scripted/engine.ts'
import type { ScriptedEngine } from '../doubles/scripted/engine.ts'
import type { ScriptedWord } from '../doubles/scripted/script.ts'

/** As many as samples can name, and hours of them. */
const WORDS = 20_000
const SECONDS = 0.3
const PAUSE = 0.1
/** Words of a phrase; behind it the speaker breathes, so that it becomes final. */
const PHRASE = 5
const BREATH = 0.7

/** Words that say their numbers, from `w1` on. */
const NUMBERED: ReadonlyArray<ScriptedWord> = Array.from({ length: WORDS }, (_, i) => ({
  text: `w${i + 1}`, seconds: SECONDS, pause: i % PHRASE === 0 ? BREATH : PAUSE,
}))

/** Whose samples tell which word they are, so that whoever hears them anywhere hears their numbers. */
export const numberedAudio = (words: number): Int16Array => scriptedAudio(NUMBERED.slice(0, words), 1)

/** Hears numbered words. */
export const numberedEngine = (): ScriptedEngine =>
  scriptedEngine({ words: NUMBERED, passSeconds: 0.01, parallelism: 2, hasWordTimes: true, isForgetful: true })

/** Of a word that begins behind so many samples of their audio, with its pause. */
export interface WordPlace {
  readonly number: number
  readonly from: number
}

/** The first word whose pause begins at or behind so many samples. */
export const wordAfter = (samples: number): WordPlace => {
  let [from, at] = [0, 0]
  for (const { pause, seconds } of NUMBERED) {
    if (from >= samples) break
    from += Math.round(pause * SAMPLE_RATE) + Math.round(seconds * SAMPLE_RATE)
    at += 1
  }
  return { number: at + 1, from }
}

/** Numbers of the whole words in a text. */
export const numbersIn = (text: string): ReadonlyArray<number> => [...text.matchAll(/(?<!~)w(\d+)(?![\d~])/gi)].map(([, number]) => Number(number))

/** Seconds that so many words take. */
export const secondsOf = (words: number): number => numberedAudio(words).length / SAMPLE_RATE
