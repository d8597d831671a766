import type { Tensor } from 'onnxruntime-node'
import { CROSS_ATTENTION, logitsAt } from './decoder.ts'
import type { Decoder, DecoderStep } from './decoder.ts'
import { applyRules, chooseToken } from './logits.ts'
import type { LogitsRules } from './logits.ts'
import type { Hotwords } from './words/hotwords.ts'
import { loopLength } from './words/loops.ts'

export interface Decoded {
  /** Without prompt and end of text. */
  readonly tokens: ReadonlyArray<number>
  /** Mean log probability of the tokens and, unless the limit cut them off, of the end of text. */
  readonly avgLogprob: number
  /** Natural logarithm of each token's probability. */
  readonly logprobs: ReadonlyArray<number>
  /** Logits at the start of the transcript, where the reference reads the probability of no speech. */
  readonly firstLogits: Float32Array
  /** Where each of the wanted heads looked for each token from the end of the prompt's beginning on; empty unless wanted. */
  readonly attention: ReadonlyArray<ReadonlyArray<Float32Array>>
  /** Stopped because it said the same again and again; what repeats is left out. */
  readonly isLoop: boolean
}

/** Where a head of a layer looked at each position from `first` on. */
const looksOf = (step: DecoderStep, row: number, [layer, head]: readonly [number, number], first: number): ReadonlyArray<Float32Array> => {
  const tensor = step.crossAttention(layer)
  if (tensor === undefined || !(tensor.data instanceof Float32Array)) throw new Error(`the decoder has no output "${CROSS_ATTENTION}${layer}"`)
  const { data } = tensor
  const [, heads = 0, positions = 0, frames = 0] = tensor.dims
  return Array.from({ length: positions - first }, (_, i) => {
    const at = ((row * heads + head) * positions + first + i) * frames
    return data.slice(at, at + frames)
  })
}

/** One text of those that are decoded together. */
interface Row {
  readonly tokens: Array<number>
  readonly logprobs: Array<number>
  /** Without the bonus of hotwords. */
  sum: number
  readonly attention: ReadonlyArray<Array<Float32Array>>
  ended: boolean
}

/** What is wanted of a decoding beyond its text. */
export interface Follow {
  /** Where the part of the prompt begins that words are in: the last token before them. */
  readonly from: number
  /** Layers and heads. */
  readonly heads: ReadonlyArray<readonly [layer: number, head: number]>
}

/** What to decode: at most `limit` tokens behind `prompt`, of which the last `known` are text already. */
export interface Wanted {
  readonly prompt: ReadonlyArray<number>
  readonly limit: number
  readonly known?: number
  /** Position of the start of the transcript; 0 where nothing is before it. */
  readonly start?: number
  readonly follow?: Follow
  readonly hotwords?: Hotwords
  /** Once it is aborted the text is not wanted any more. */
  readonly signal?: AbortSignal
}

/**
 * Greedy decoding under the rules of one text or of several at once, at most `limit` tokens of each: random or confused weights may
 * never end the text. `encoded` holds a row for each; `onText` is called for each as it ends, in no order, unless it is called off. The rows of texts that
 * have ended go on, unheard, until the last one has.
 */
export const decodeGreedily = async (
  decoder: Decoder,
  encoded: Tensor,
  wanted: ReadonlyArray<Wanted>,
  rules: LogitsRules,
  onText: (row: number, decoded: Decoded) => void,
): Promise<void> => {
  const rows = wanted.map(({ follow }): Row => ({ tokens: [], logprobs: [], sum: 0, attention: follow?.heads.map(() => []) ?? [], ended: false }))
  let step = await decoder.open(encoded, wanted.map(({ prompt }) => prompt))
  const firstLogits = rows.map((_, row) => logitsAt(step, row, wanted[row]?.start ?? 0).slice())

  const watch = (first: (follow: Follow) => number): void => {
    for (const [at, { attention, ended }] of rows.entries()) {
      const follow = wanted[at]?.follow
      if (follow === undefined || ended) continue
      for (const [i, head] of follow.heads.entries()) attention[i]?.push(...looksOf(step, at, head, first(follow)))
    }
  }

  const finish = (row: Row, at: number, isLoop: boolean): void => {
    row.ended = true
    const { tokens, logprobs, attention } = row
    const scores = { avgLogprob: row.sum / row.logprobs.length, logprobs, firstLogits: firstLogits[at] ?? new Float32Array(0) }
    onText(at, { tokens, ...scores, attention, isLoop })
  }

  /** The row's next token. */
  const advance = (row: Row, at: number): number => {
    if (row.ended) return rules.endOfText
    const { prompt = [], known = 0, limit = 0, follow, hotwords } = wanted[at] ?? {}
    const text = [...prompt.slice(prompt.length - known), ...row.tokens]
    const logits = logitsAt(step, at, -1)
    applyRules(logits, text, rules)
    const likeliest = chooseToken(logits)
    const { token, logprob, alone = logprob } = hotwords?.prefer(likeliest, logits, text) ?? likeliest
    row.logprobs.push(logprob)
    row.sum += alone
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
    watch(({ from }) => from)
    for (;;) {
      for (const [at, row] of rows.entries()) row.ended ||= wanted[at]?.signal?.aborted === true
      const tokens = rows.map(advance)
      if (rows.every(({ ended }) => ended)) return
      step = await step.next(tokens)
      watch(() => 0)
    }
  } finally {
    step.close()
  }
}
