import type { ReceivedFrame } from './live-stream.ts'
import { alignWords, comparableWords } from '../../../domain/transcript/word-alignment.ts'

export interface Quantiles {
  readonly median: number | null
  readonly p95: number | null
}

/** Median and 95th percentile (nearest rank), rounded to milliseconds; null when there is nothing. */
export const quantiles = (values: ReadonlyArray<number>): Quantiles => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number | null => {
    const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
    return value === undefined ? null : Math.round(value * 1000) / 1000
  }
  return { median: at(0.5), p95: at(0.95) }
}

const unwrapped = (text: string): string => text.replaceAll('\n', ' ')

/** The frames that no later one replaces: finals, in order. */
export const finals = (frames: ReadonlyArray<ReceivedFrame>, type: ReceivedFrame['type'] = 'transcription'): ReadonlyArray<ReceivedFrame> =>
  frames.filter((frame) => frame.type === type && frame.final)

export const transcriptOf = (frames: ReadonlyArray<ReceivedFrame>): string =>
  finals(frames)
    .map((frame) => unwrapped(frame.text))
    .join(' ')

/** A word that was spoken, and when, in seconds from the first sample. */
export interface SpokenWord {
  readonly word: string
  readonly end: number
  /** The last word of its phrase. */
  readonly closesPhrase: boolean
}

/** Seconds from the end of each word to the first moment that a screen fed with `frames` shows it; words never shown are left out. */
const displayDelays = (words: ReadonlyArray<SpokenWord>, frames: ReadonlyArray<ReceivedFrame>): ReadonlyMap<number, number> => {
  const reference = words.flatMap(({ word }) => comparableWords(word))
  const shown = new Map<number, number>()
  const settled: Array<string> = []
  for (const frame of frames) {
    const screen = [...settled, unwrapped(frame.text)].join(' ')
    for (const [index] of alignWords(reference, comparableWords(screen), 'prefix').matches)
      if (!shown.has(index)) shown.set(index, frame.receivedAt - (words[index]?.end ?? 0))
    if (frame.final) settled.push(unwrapped(frame.text))
  }
  return shown
}

/** Delays of the launch contract's report: word end → first display, phrase end → final. */
export const delaysOf = (words: ReadonlyArray<SpokenWord>, frames: ReadonlyArray<ReceivedFrame>) => {
  const transcription = frames.filter((frame) => frame.type === 'transcription')
  const finalDelays = displayDelays(words, finals(frames))
  return {
    first_display_s: quantiles([...displayDelays(words, transcription).values()]),
    final_delay_s: quantiles([...finalDelays].filter(([index]) => words[index]?.closesPhrase === true).map(([, delay]) => delay)),
  }
}

/** How many final translations came, by language, and the seconds from each final to its translation. */
export const translationsOf = (frames: ReadonlyArray<ReceivedFrame>) => {
  const sources = new Map(finals(frames).map((frame) => [frame.segment, frame.receivedAt]))
  const translated = finals(frames, 'translation')
  const counts: Record<string, number> = {}
  for (const { language } of translated) counts[language] = (counts[language] ?? 0) + 1
  return {
    translation_counts: counts,
    translation_delay_s: quantiles(translated.map(({ segment, receivedAt }) => receivedAt - (sources.get(segment) ?? receivedAt))),
  }
}

/** How many partials were sent, and how many of them took back a word shown before. */
export const partialsOf = (frames: ReadonlyArray<ReceivedFrame>): { readonly partials: number; readonly rewrites: number } => {
  const before = new Map<number, ReadonlyArray<string>>()
  let partials = 0
  let rewrites = 0
  for (const frame of frames.filter(({ type }) => type === 'transcription')) {
    const words = comparableWords(frame.text)
    const previous = before.get(frame.segment) ?? []
    if (previous.some((word, index) => words[index] !== word)) rewrites += 1
    if (!frame.final) partials += 1
    before.set(frame.segment, words)
  }
  return { partials, rewrites }
}
