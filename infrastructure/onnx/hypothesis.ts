import { deflateSync } from 'node:zlib'
import type { HypothesisSegment } from '../../application/ports/engine.ts'

/** What segmenting needs: where timestamps begin, how long one step is, and where text ends. */
export interface TokenLayout {
  readonly timestampBegin: number
  readonly timePrecision: number
  /** Tokens below this are text. */
  readonly endOfText: number
}

/**
 * The text between two timestamps becomes a segment; what stands before the first, or after the last, reaches to the
 * edge of the audio. Texts keep the spaces that the model gave them: joined together they are the whole text.
 */
export const segmentsOf = (
  tokens: ReadonlyArray<number>,
  seconds: number,
  { timestampBegin, timePrecision, endOfText }: TokenLayout,
  decodeText: (tokens: ReadonlyArray<number>) => string,
): ReadonlyArray<HypothesisSegment> => {
  const segments: HypothesisSegment[] = []
  let start = 0
  let text: number[] = []
  const close = (end: number): void => {
    const words = decodeText(text)
    text = []
    if (words.trim() !== '') segments.push({ start: Math.min(start, end), end, text: words })
  }
  for (const token of tokens) {
    if (token < endOfText) {
      text.push(token)
    } else if (token >= timestampBegin) {
      const time = Math.min((token - timestampBegin) * timePrecision, seconds)
      close(time)
      start = time
    }
  }
  close(seconds)
  return segments
}

/** Length of the UTF-8 text, without space around it, over that of its zlib form: text that repeats itself compresses well. */
export const compressionRatioOf = (text: string): number => {
  const bytes = Buffer.from(text.trim(), 'utf8')
  return bytes.length / deflateSync(bytes).length
}
