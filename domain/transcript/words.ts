import type { SegmentWord } from './events.ts'

const thousandths = (value: number): number => Math.round(value * 1000) / 1000

/**
 * Returns words as they are sent and stored: rounded to thousandths. `at` converts the seconds of a word to seconds
 * from the first audio of the session.
 */
export const publishedWords = (
  words: ReadonlyArray<SegmentWord>,
  at: (seconds: number) => number,
): ReadonlyArray<SegmentWord> =>
  words.map(({ start, end, text, confidence }) => ({
    start: thousandths(at(start)), end: thousandths(at(end)), text, confidence: thousandths(confidence),
  }))
