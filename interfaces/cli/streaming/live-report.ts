import type { ReceivedFrame } from './live-stream.ts'
import { alignWords, comparableWords } from '../../../domain/transcript/word-alignment.ts'

export interface Quantiles {
  readonly median: number | null
  readonly p95: number | null
}

/** Returns median and 95th percentile (nearest rank) of seconds, rounded to milliseconds. Null without values. */
export const quantiles = (values: ReadonlyArray<number>): Quantiles => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number | null => {
    const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
    return value === undefined ? null : Math.round(value * 1000) / 1000
  }
  return { median: at(0.5), p95: at(0.95) }
}

const unwrapped = (text: string): string => text.replaceAll('\n', ' ')

/** Returns the final frames, in order. Drafts are left out. */
export const finals = (
  frames: ReadonlyArray<ReceivedFrame>,
  type: ReceivedFrame['type'] = 'transcription',
): ReadonlyArray<ReceivedFrame> =>
  frames.filter((frame) => frame.type === type && frame.final)

export const transcriptOf = (frames: ReadonlyArray<ReceivedFrame>): string =>
  finals(frames)
    .map((frame) => unwrapped(frame.text))
    .join(' ')

/** A spoken word of the reference. `end`: seconds from the first sample. */
export interface SpokenWord {
  readonly word: string
  readonly end: number
  /** True for the last word of a phrase. */
  readonly closesPhrase: boolean
}

/**
 * Returns the seconds from the end of each word to its first display on a screen that shows `frames`. Keys are word
 * indexes. Words that never appear are left out.
 */
const displayDelays = (
  words: ReadonlyArray<SpokenWord>,
  frames: ReadonlyArray<ReceivedFrame>,
): ReadonlyMap<number, number> => {
  const reference = words.flatMap(({ word }) => comparableWords(word))
  const shown = new Map<number, number>()
  const finalTexts: Array<string> = []
  for (const frame of frames) {
    const screen = [...finalTexts, unwrapped(frame.text)].join(' ')
    for (const [index] of alignWords(reference, comparableWords(screen), 'prefix').matches)
      if (!shown.has(index)) shown.set(index, frame.receivedAt - (words[index]?.end ?? 0))
    if (frame.final) finalTexts.push(unwrapped(frame.text))
  }
  return shown
}

/** Returns two delays: from the end of a word to its first display, and from the end of a phrase to its final. */
export const delaysOf = (words: ReadonlyArray<SpokenWord>, frames: ReadonlyArray<ReceivedFrame>) => {
  const transcription = frames.filter((frame) => frame.type === 'transcription')
  const finalDelays = displayDelays(words, finals(frames))
  return {
    first_display_s: quantiles([...displayDelays(words, transcription).values()]),
    final_delay_s: quantiles(
      [...finalDelays].filter(([index]) => words[index]?.closesPhrase === true).map(([, delay]) => delay),
    ),
  }
}

/** Returns the number of translations by language, and the seconds from each final segment to its translation. */
export const translationsOf = (frames: ReadonlyArray<ReceivedFrame>) => {
  const sources = new Map(finals(frames).map((frame) => [frame.segment, frame.receivedAt]))
  const translated = finals(frames, 'translation')
  const counts: Record<string, number> = {}
  for (const { language } of translated) counts[language] = (counts[language] ?? 0) + 1
  return {
    translation_counts: counts,
    translation_delay_s: quantiles(
      translated.map(({ segment, receivedAt }) => receivedAt - (sources.get(segment) ?? receivedAt)),
    ),
  }
}

/** The number of drafts, and the number of frames that changed an already shown word. */
interface Partials {
  readonly partials: number
  readonly rewrites: number
}

/** Counts drafts and rewrites of the transcription. */
export const partialsOf = (frames: ReadonlyArray<ReceivedFrame>): Partials => {
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
