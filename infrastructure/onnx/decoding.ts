import type { Tensor } from 'onnxruntime-node'
import { CROSS_ATTENTION, type Decoder, type DecoderStep, logitsAt } from './decoder.ts'
import { applyRules, chooseToken, type LogitsRules } from './logits.ts'
import type { Hotwords } from './words/hotwords.ts'
import { loopLength } from './words/loops.ts'

export interface Decoded {
  /** Tokens without prompt and end of text. */
  readonly tokens: ReadonlyArray<number>
  /** Mean log probability of the tokens, and of the end of text unless the limit ended the text. */
  readonly avgLogprob: number
  /** Natural logarithm of each token's probability. */
  readonly logprobs: ReadonlyArray<number>
  /** Logits at the start of the transcript. The Whisper reference reads the probability of no speech there. */
  readonly firstLogits: Float32Array
  /** Attention of each followed head for each token from `Follow.from` on; empty without `follow`. */
  readonly attention: ReadonlyArray<ReadonlyArray<Float32Array>>
  /** Decoding stopped at a repetition. The repeated tokens are removed. */
  readonly isLoop: boolean
}

/** Returns the attention of a head for each position from `first` on. */
const attentionOf = (
  step: DecoderStep,
  row: number,
  [layer, head]: readonly [number, number],
  first: number,
): ReadonlyArray<Float32Array> => {
  const tensor = step.crossAttention(layer)
  if (tensor === undefined || !(tensor.data instanceof Float32Array))
    throw new Error(`the decoder has no output "${CROSS_ATTENTION}${layer}"`)
  const { data } = tensor
  const [, heads = 0, positions = 0, frames = 0] = tensor.dims
  return Array.from({ length: positions - first }, (_, i) => {
    const start = ((row * heads + head) * positions + first + i) * frames
    return data.slice(start, start + frames)
  })
}

/** One of the texts that are decoded together. */
interface Row {
  readonly tokens: Array<number>
  readonly logprobs: Array<number>
  /** Sum of the log probabilities without the bonus of hotwords. */
  sum: number
  readonly attention: ReadonlyArray<Array<Float32Array>>
  ended: boolean
}

/** The attention heads to record. */
export interface Follow {
  /** Position of the last prompt token before the words. */
  readonly from: number
  /** Layers and heads. */
  readonly heads: ReadonlyArray<readonly [layer: number, head: number]>
}

/** A text to decode: at most `limit` tokens after `prompt`. The prompt's last `known` tokens are part of the text. */
export interface TextRequest {
  readonly prompt: ReadonlyArray<number>
  readonly limit: number
  readonly known?: number
  /** Position of the start-of-transcript token in the prompt. Default: 0. */
  readonly start?: number
  readonly follow?: Follow
  readonly hotwords?: Hotwords
  /** Cancels the text. */
  readonly signal?: AbortSignal
}

/**
 * Decodes one or several texts greedily under the rules. `limit` bounds each text, because confused weights may
 * never end it. `encoded` has one row per text. `onText` is called for each text when it ends, in any order, except
 * for cancelled texts. The model also runs the rows of ended texts until the last text ends, and ignores their results.
 */
export const decodeGreedily = async (
  decoder: Decoder,
  encoded: Tensor,
  requests: ReadonlyArray<TextRequest>,
  rules: LogitsRules,
  onText: (row: number, decoded: Decoded) => void,
): Promise<void> => {
  const rows = requests.map(({ follow }): Row => ({
    tokens: [],
    logprobs: [],
    sum: 0,
    attention: follow?.heads.map(() => []) ?? [],
    ended: false,
  }))
  let step = await decoder.open(
    encoded,
    requests.map(({ prompt }) => prompt),
  )
  const firstLogits = rows.map((_, row) => logitsAt(step, row, requests[row]?.start ?? 0).slice())

  const recordAttention = (first: (follow: Follow) => number): void => {
    for (const [at, { attention, ended }] of rows.entries()) {
      const follow = requests[at]?.follow
      if (follow === undefined || ended) continue
      for (const [i, head] of follow.heads.entries()) attention[i]?.push(...attentionOf(step, at, head, first(follow)))
    }
  }

  const finish = (row: Row, at: number, isLoop: boolean): void => {
    row.ended = true
    const { tokens, logprobs, attention } = row
    const scores = {
      avgLogprob: row.sum / row.logprobs.length,
      logprobs,
      firstLogits: firstLogits[at] ?? new Float32Array(0),
    }
    onText(at, { tokens, ...scores, attention, isLoop })
  }

  /** Returns the next token of a row. */
  const advance = (row: Row, at: number): number => {
    if (row.ended) return rules.endOfText
    const { prompt = [], known = 0, limit = 0, follow, hotwords } = requests[at] ?? {}
    const text = [...prompt.slice(prompt.length - known), ...row.tokens]
    const logits = logitsAt(step, at, -1)
    applyRules(logits, text, rules)
    const likeliest = chooseToken(logits)
    const { token, logprob, withoutBonus = logprob } = hotwords?.prefer(likeliest, logits, text) ?? likeliest
    row.logprobs.push(logprob)
    row.sum += withoutBonus
    if (token === rules.endOfText) {
      finish(row, at, false)
      return token
    }
    row.tokens.push(token)
    const repeated = follow === undefined ? 0 : Math.min(row.tokens.length, loopLength([...text, token]))
    if (repeated > 0) row.tokens.length -= repeated
    if (repeated > 0 || row.tokens.length >= limit) finish(row, at, repeated > 0)
    return token
  }

  try {
    recordAttention(({ from }) => from)
    for (;;) {
      for (const [at, row] of rows.entries()) row.ended ||= requests[at]?.signal?.aborted === true
      const tokens = rows.map(advance)
      if (rows.every(({ ended }) => ended)) return
      step = await step.next(tokens)
      recordAttention(() => 0)
    }
  } finally {
    step.close()
  }
}
