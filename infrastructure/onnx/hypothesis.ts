import { deflateSync } from 'node:zlib'
import type { HypothesisSegment } from '../../application/ports/engine.ts'

/** The ranges of token ids: timestamps from `timestampBegin` on, in steps of `timePrecision` seconds. */
export interface TokenLayout {
  readonly timestampBegin: number
  readonly timePrecision: number
  /** Tokens below this are text. */
  readonly endOfText: number
}

/**
 * Splits a text into segments at its timestamps. Text before the first or after the last timestamp reaches to the
 * edge of the audio. Segments keep the model's spaces, so the joined segments are the whole text.
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

/** Returns the UTF-8 length of the trimmed text divided by its zlib length. Repetitive text has a high ratio. */
export const compressionRatioOf = (text: string): number => {
  const bytes = Buffer.from(text.trim(), 'utf8')
  return bytes.length / deflateSync(bytes).length
}
