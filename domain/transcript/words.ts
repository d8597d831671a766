import type { SegmentWord } from './events.ts'

const thousandths = (value: number): number => Math.round(value * 1000) / 1000

/** Words as they are told: `at` is when something is in the live, times and confidence are to the thousandth. */
export const toldWords = (
  words: ReadonlyArray<SegmentWord>,
  at: (seconds: number) => number,
): ReadonlyArray<SegmentWord> =>
  words.map(({ start, end, text, confidence }) => ({
    start: thousandths(at(start)), end: thousandths(at(end)), text, confidence: thousandths(confidence),
  }))
