import type { TranscribedWord } from '../../../application/ports/engine.ts'
import { tokenStarts } from './attention-times.ts'
import { wordsOfTokens } from './token-words.ts'

/** What one pass said behind the tokens that were known, and where it looked. */
interface Followed {
  readonly tokens: ReadonlyArray<number>
  /** Of each. */
  readonly logprobs: ReadonlyArray<number>
  /** By heads, of the last token before the words, of those known and of these. */
  readonly attention: ReadonlyArray<ReadonlyArray<Float32Array>>
  /** How many tokens were known. */
  readonly known: number
  /** Of the audio. */
  readonly seconds: number
  /** Seconds of a frame of the attention. */
  readonly timePrecision: number
}

/** Geometric mean of probabilities; 1 of none. */
const meanOf = (logprobs: ReadonlyArray<number>): number =>
  Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0) / Math.max(1, logprobs.length))

/** The words of a pass: when each sounds, and how likely it was. */
export const heardWords = (
  { tokens, logprobs, attention, known, seconds, timePrecision }: Followed,
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
