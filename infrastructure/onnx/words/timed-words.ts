import type { TranscribedWord } from '../../../application/ports/engine.ts'
import { tokenStarts } from './attention-times.ts'
import { wordsOfTokens } from './token-words.ts'

/** The tokens of one pass after the known tokens, and their attention. */
interface PassTokens {
  readonly tokens: ReadonlyArray<number>
  /** Log probability of each token. */
  readonly logprobs: ReadonlyArray<number>
  /** Attention by head: of the last token before the words, of the known tokens, and of `tokens`. */
  readonly attention: ReadonlyArray<ReadonlyArray<Float32Array>>
  readonly known: number
  /** Length of the audio in seconds. */
  readonly seconds: number
  /** Length of an attention frame in seconds. */
  readonly timePrecision: number
}

/** Returns the geometric mean of probabilities; 1 for an empty list. */
const meanOf = (logprobs: ReadonlyArray<number>): number =>
  Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0) / Math.max(1, logprobs.length))

/** Returns the words of a pass with their times and probabilities. */
export const timedWords = (
  { tokens, logprobs, attention, known, seconds, timePrecision }: PassTokens,
  decodeText: (tokens: ReadonlyArray<number>) => string,
): ReadonlyArray<TranscribedWord> => {
  if (tokens.length === 0) return []
  const rows = attention.map((head) => head.slice(0, known + tokens.length + 1))
  const frames = Math.max(1, Math.min(rows[0]?.[0]?.length ?? 1, Math.ceil(seconds / timePrecision)))
  const starts = tokenStarts(rows, frames)
  const startOf = (token: number): number => Math.min(seconds, (starts[known + token] ?? frames) * timePrecision)
  const meanIn = (from: number, to: number): number => meanOf(logprobs.slice(from, to))
  let at = 0
  return wordsOfTokens(tokens, decodeText).map((word) => {
    const [from, spokenTo, to] = [at, at + word.spoken, at + word.tokens.length]
    at = to
    return {
      ...word,
      start: startOf(from),
      end: startOf(spokenTo),
      probability: meanIn(from, to),
      confidence: meanIn(from, spokenTo),
      endProbability: meanIn(spokenTo, to),
    }
  })
}
