/** Rules that forbid tokens: the logits processors of the Whisper reference, in its order. */
export interface LogitsRules {
  /** Tokens that are always forbidden. */
  readonly suppressed: ReadonlyArray<number>
  /** Tokens that are forbidden as the first token. */
  readonly suppressedAtBegin: ReadonlyArray<number>
  readonly endOfText: number
  /** Null: the prompt ended with the no-timestamps token, so the timestamp rules do not apply. */
  readonly timestamps: TimestampRules | null
}

export interface TimestampRules {
  readonly noTimestamps: number
  /** The token of 0.00 s; every token from here on is a time. */
  readonly begin: number
  /** Highest index, counted from `begin`, that the first timestamp may have; null for any. */
  readonly maxInitialIndex: number | null
}

export interface Choice {
  readonly token: number
  /** Natural logarithm of its probability after the rules. */
  readonly logprob: number
  /** Log probability without the bonus of a hotword; absent without a bonus. */
  readonly withoutBonus?: number
}

const forbid = (logits: Float32Array, tokens: ReadonlyArray<number>): void => {
  for (const token of tokens) if (token < logits.length) logits[token] = -Infinity
}

// Plain loops with an index: these run over a vocabulary of 50,000 for every token.
/** Returns whether one of the first `count` logits is at least `height`. Usually an early logit is. */
const reaches = (logits: Float32Array, count: number, height: number): boolean => {
  for (let i = 0; i < count; i++) if ((logits[i] ?? 0) >= height) return true
  return false
}

/**
 * A table of e^-x, with this number of steps per unit of x and this greatest x. The likeliest token has x = 0, that is
 * e^0 = 1. Compared with 1, e^-40 is negligible.
 */
const STEPS = 256
const DEEPEST = 40
const EXPONENTIALS = Float64Array.from({ length: DEEPEST * STEPS + 1 }, (_, step) => Math.exp(-step / STEPS))

interface Total {
  /** The first token with the highest logit; 0 when all tokens are forbidden. */
  readonly token: number
  readonly highest: number
  readonly logSumExp: number
}

/**
 * Finds the likeliest token and the log of the sum of exponentials in one pass over the logits. (Two passes with
 * Math.exp would be the slowest part of decoding outside the model.) The sum is relative to the highest logit so far.
 * It computes e^-x as the nearest value of the table times a short series. This is exact to 2 parts in 10^9.
 */
const totalOf = (logits: Float32Array): Total => {
  let token = 0
  let highest = -Infinity
  let sum = 0
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i] ?? 0
    if (logit > highest) {
      sum = sum * Math.exp(highest - logit) + 1
      highest = logit
      token = i
      continue
    }
    const depth = (highest - logit) * STEPS
    // `depth` is NaN while all tokens so far are forbidden, so `depth >= …` would be wrong.
    if (!(depth < DEEPEST * STEPS)) continue
    const step = ~~(depth + 0.5)
    const rest = (step - depth) * (1 / STEPS)
    sum += (EXPONENTIALS[step] ?? 0) * (1 + rest + (rest * rest) / 2)
  }
  return { token, highest, logSumExp: highest + Math.log(sum) }
}

const applyTimestampRules = (
  logits: Float32Array,
  generated: ReadonlyArray<number>,
  { noTimestamps, begin, maxInitialIndex }: TimestampRules,
  endOfText: number,
): void => {
  forbid(logits, [noTimestamps])
  const isTimestamp = (token: number | undefined): boolean => token !== undefined && token >= begin
  const isLastTimestamp = isTimestamp(generated.at(-1))
  // The reference counts a missing token before the last one as a timestamp.
  const isPenultimateTimestamp = generated.length < 2 || isTimestamp(generated.at(-2))

  // Timestamps come in pairs, except right before the end of the text.
  if (isLastTimestamp && isPenultimateTimestamp) logits.fill(-Infinity, begin)
  if (isLastTimestamp && !isPenultimateTimestamp) logits.fill(-Infinity, 0, endOfText)

  // Timestamps never go back, and a segment is not empty.
  const latest = generated.findLast(isTimestamp)
  if (latest !== undefined)
    logits.fill(-Infinity, begin, isLastTimestamp && !isPenultimateTimestamp ? latest : latest + 1)

  if (generated.length === 0) {
    logits.fill(-Infinity, 0, begin)
    if (maxInitialIndex !== null) logits.fill(-Infinity, begin + maxInitialIndex + 1)
  }

  // If all timestamps together are likelier than each text token, the next token is a timestamp.
  if (!reaches(logits, begin, totalOf(logits.subarray(begin)).logSumExp)) logits.fill(-Infinity, 0, begin)
}

/** Applies the rules in place to the logits of the token that follows `generated` (the prompt not included). */
export const applyRules = (logits: Float32Array, generated: ReadonlyArray<number>, rules: LogitsRules): void => {
  if (generated.length === 0) forbid(logits, rules.suppressedAtBegin)
  forbid(logits, rules.suppressed)
  if (rules.timestamps !== null) applyTimestampRules(logits, generated, rules.timestamps, rules.endOfText)
}

/** Returns the likeliest token; of equally likely tokens the smallest id. */
export const chooseToken = (logits: Float32Array): Choice => {
  const { token, highest, logSumExp } = totalOf(logits)
  return { token, logprob: highest - logSumExp }
}

/** Returns the probability of a token before any rule. */
export const probabilityOf = (logits: Float32Array, token: number): number =>
  Math.exp((logits[token] ?? -Infinity) - totalOf(logits).logSumExp)
