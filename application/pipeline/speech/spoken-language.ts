import { SAMPLE_RATE } from '../../ports/engine.ts'
import type { FoundLanguage } from '../../ports/engine.ts'
import { AUTO_LANGUAGE } from '../pipeline.ts'
import type { Segment } from '../pipeline.ts'
import type { AudioBuffer } from './audio-buffer.ts'
import { loudRegions } from './loudness.ts'
import type { Phrase, Region, SegmenterState } from './speech-segmenter.ts'

/** Speech by which a language can be guessed, by which it can be told, and the most that is heard for it. */
const LEAST = SAMPLE_RATE
const ENOUGH = 2 * SAMPLE_RATE
const MOST = 8 * SAMPLE_RATE
/** Probability from which on the model is believed. */
const SURE = 0.8

/** Audio to hear, in samples from the first audio. */
interface Span {
  readonly from: number
  readonly to: number
}

/** The parts of regions that lie in a span. */
const partsOf = (regions: ReadonlyArray<Region>, { from, to }: Span): ReadonlyArray<Span> =>
  regions.map(({ start, end }) => ({ from: Math.max(from, start), to: Math.min(to, end ?? to) })).filter((part) => part.to > part.from)

/** As much from the first part on as is heard; null where there is none. */
const beginningOf = (parts: ReadonlyArray<Span>): Span | null => {
  const [first, last] = [parts[0], parts.at(-1)]
  return first === undefined || last === undefined ? null : { from: first.from, to: Math.min(last.to, first.from + MOST) }
}

/** Which language a live is in: as it was given, or found phrase by phrase. */
export interface SpokenLanguage {
  /** Null until the first is found. */
  readonly code: () => string | null
  /**
   * What is to be heard now to find out, null where nothing.
   *
   * @param done the audio before it is not heard again
   * @param undetected the audio, where no detector tells in what of it somebody speaks
   */
  readonly question: (speech: SegmenterState, done: number, undetected: Pick<AudioBuffer, 'slice'> | null) => Span | null
  /** Takes the answer; whether the phrase is in another language than the one it was heard in so far. */
  readonly changes: (found: FoundLanguage) => boolean
  /** A segment with the language that it was heard in, where that was found. */
  readonly told: (segment: Segment) => Segment
  /** What is said from a sample on may be in another. */
  readonly endPhrase: (at: number) => void
}

const given = (code: string): SpokenLanguage => ({
  code: () => code,
  question: () => null,
  changes: () => false,
  told: (segment) => segment,
  endPhrase: () => undefined,
})

/**
 * Each phrase is asked about once two seconds of it were spoken, and again when twice as much was, until the model is sure. Of the
 * first one second tells whether it can be shown already; what the model is not sure of is taken only until it is sure for the
 * first time: people seldom change their language.
 */
const sought = (): SpokenLanguage => {
  let code: string | null = null
  let wasEverSure = false
  let isSettled = false
  /** Speech of this phrase that was heard when the model was asked last, and whether that is all there is. */
  let [asked, wasLast] = [0, false]
  /** Where what may be in another language begins. */
  let from = 0

  const isDue = ({ regions, closedAt }: Phrase, length: number): boolean => {
    if (code === null && closedAt !== null) return true
    if (asked >= MOST) return false
    if (length >= Math.max(wasEverSure ? ENOUGH : LEAST, 2 * asked)) return true
    // Behind a pause what was taken for a language that nobody is sure of may not be heard again.
    return code !== null && !wasEverSure && regions.at(-1)?.end !== null && length > asked
  }

  return {
    code: () => code,
    question: ({ phrases: [phrase], clock }, done, undetected) => {
      if (phrase === undefined || isSettled) return null
      from = Math.max(from, done)
      const regions = undetected === null || code === null ? phrase.regions : loudRegions(undetected.slice(done, clock), done)
      const spoken = partsOf(regions, { from, to: clock })
      const length = spoken.reduce((sum, part) => sum + part.to - part.from, 0)
      if (!isDue(phrase, length)) return null
      ;[asked, wasLast] = [length, phrase.closedAt !== null]
      return beginningOf(spoken) ?? { from, to: from }
    },
    changes: (found) => {
      const isLikely = found.probability >= SURE
      const isEnough = asked >= ENOUGH
      isSettled = isLikely && isEnough
      if (!isLikely && (wasEverSure || !(isEnough || wasLast))) return false
      wasEverSure ||= isSettled
      const isOther = code !== null && code !== found.code
      code = found.code
      return isOther
    },
    told: (segment) => (code === null ? segment : { ...segment, language: code }),
    endPhrase: (at) => {
      isSettled = false
      asked = 0
      from = at
    },
  }
}

/** @param language a code of the model's, or AUTO_LANGUAGE */
export const spokenLanguage = (language: string): SpokenLanguage => (language === AUTO_LANGUAGE ? sought() : given(language))
