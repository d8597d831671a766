import { type FoundLanguage, SAMPLE_RATE } from '../../ports/engine.ts'
import { AUTO_LANGUAGE, type Segment } from '../pipeline.ts'
import type { AudioBuffer } from './audio-buffer.ts'
import { loudRegions } from './loudness.ts'
import type { Phrase, Region, SegmenterState } from './speech-segmenter.ts'

/** Speech that a first guess of the language needs. */
const MIN_SAMPLES = SAMPLE_RATE
/** Speech that a reliable detection needs. */
const RELIABLE_SAMPLES = 2 * SAMPLE_RATE
/** Maximum audio of one query. */
const MAX_SAMPLES = 8 * SAMPLE_RATE
/** A detection with at least this probability is trusted. */
const SURE_PROBABILITY = 0.8

/** A span of audio, in samples from the first audio. */
interface Span {
  readonly from: number
  readonly to: number
}

const partsOf = (regions: ReadonlyArray<Region>, { from, to }: Span): ReadonlyArray<Span> =>
  regions
    .map(({ start, end }) => ({ from: Math.max(from, start), to: Math.min(to, end ?? to) }))
    .filter((part) => part.to > part.from)

/** Returns the span of one query, from the first part on. Null when there are no parts. */
const beginningOf = (parts: ReadonlyArray<Span>): Span | null => {
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return null
  return { from: first.from, to: Math.min(last.to, first.from + MAX_SAMPLES) }
}

/** The language of a session: fixed, or detected phrase by phrase. */
export interface SpokenLanguage {
  /** Returns the present language code, or null before the first detection. */
  readonly code: () => string | null
  /**
   * Returns the audio span for the next language query, or null when no query is due.
   *
   * @param done the audio before this sample is finished
   * @param undetected the audio of a session without a speech detector, otherwise null
   */
  readonly nextQuery: (
    speech: SegmenterState,
    done: number,
    undetected: Pick<AudioBuffer, 'slice'> | null,
  ) => Span | null
  /** Applies the result of a query. Returns whether the language of the phrase has changed. */
  readonly applyAnswer: (found: FoundLanguage) => boolean
  readonly withLanguage: (segment: Segment) => Segment
  /** Ends the phrase: the speech from this sample on may have another language. */
  readonly endPhrase: (at: number) => void
}

const fixedLanguage = (code: string): SpokenLanguage => ({
  code: () => code,
  nextQuery: () => null,
  applyAnswer: () => false,
  withLanguage: (segment) => segment,
  endPhrase: () => undefined,
})

/**
 * Detects the language. The engine is queried for each phrase after two seconds of speech. Until the model is sure, it
 * is queried again each time the length of the speech has doubled. The first phrase is also queried after one second,
 * so its text can be shown early. Uncertain results count only until the first certain result, because speakers seldom
 * change their language.
 */
const detectedLanguage = (): SpokenLanguage => {
  let code: string | null = null
  let wasEverSure = false
  let isSettled = false
  /** Number of speech samples of this phrase at the last query, and whether the phrase was complete then. */
  let queriedSamples = 0
  let wasComplete = false
  /** Start of the speech that may have another language. */
  let from = 0

  const isDue = ({ regions, closedAt }: Phrase, length: number): boolean => {
    if (code === null && closedAt !== null) return true
    if (queriedSamples >= MAX_SAMPLES) return false
    if (length >= Math.max(wasEverSure ? RELIABLE_SAMPLES : MIN_SAMPLES, 2 * queriedSamples)) return true
    // An uncertain language is queried again in a pause, because the phrase may end soon.
    return code !== null && !wasEverSure && regions.at(-1)?.end !== null && length > queriedSamples
  }

  return {
    code: () => code,
    nextQuery: ({ phrases: [phrase], clock }, done, undetected) => {
      if (phrase === undefined || isSettled) return null
      from = Math.max(from, done)
      const hasRegions = undetected === null || code === null
      const regions = hasRegions ? phrase.regions : loudRegions(undetected.slice(done, clock), done)
      const spoken = partsOf(regions, { from, to: clock })
      const length = spoken.reduce((sum, part) => sum + part.to - part.from, 0)
      if (!isDue(phrase, length)) return null
      ;[queriedSamples, wasComplete] = [length, phrase.closedAt !== null]
      return beginningOf(spoken) ?? { from, to: from }
    },
    applyAnswer: (found) => {
      const isLikely = found.probability >= SURE_PROBABILITY
      const isEnough = queriedSamples >= RELIABLE_SAMPLES
      isSettled = isLikely && isEnough
      if (!isLikely && (wasEverSure || !(isEnough || wasComplete))) return false
      wasEverSure ||= isSettled
      const isOther = code !== null && code !== found.code
      code = found.code
      return isOther
    },
    withLanguage: (segment) => (code === null ? segment : { ...segment, language: code }),
    endPhrase: (at) => {
      isSettled = false
      queriedSamples = 0
      from = at
    },
  }
}

/** @param language a language code of the model, or AUTO_LANGUAGE */
export const createSpokenLanguage = (language: string): SpokenLanguage =>
  language === AUTO_LANGUAGE ? detectedLanguage() : fixedLanguage(language)
