import type { SegmentWord } from './events.ts'

const thousandths = (value: number): number => Math.round(value * 1000) / 1000

/** Words as they are told: `earlier` seconds later, times and confidence to the thousandth. */
export const toldWords = (words: ReadonlyArray<SegmentWord>, earlier: number): ReadonlyArray<SegmentWord> =>
  words.map(({ start, end, text, confidence }) => ({
    start: thousandths(earlier + start), end: thousandths(earlier + end), text, confidence: thousandths(confidence),
  }))
