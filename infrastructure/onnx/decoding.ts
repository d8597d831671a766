import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { applyRules, chooseToken } from './logits.ts'
import type { LogitsRules } from './logits.ts'
import type { Hotwords } from './words/hotwords.ts'
import { loopLength } from './words/loops.ts'

type Feeds = Readonly<Record<string, Tensor>>

/**
 * A decoder that answers the logits of the prompt, then of one token after the other; `constant` is fed at every step. It works on
 * several texts at once, the rows: `encoded` is [rows][frames][width], and their prompts are equally long, for these graphs have no
 * mask for what is before a shorter one.
 */
export interface Decoder {
  readonly open: (encoded: Tensor, prompts: ReadonlyArray<ReadonlyArray<number>>, constant?: Feeds) => Promise<DecoderStep>
  /** Its graphs tell where the layers looked. */
  readonly tellsAttention: boolean
  /** Gives the memory of the graphs back. */
  readonly release: () => Promise<void>
}

export interface DecoderStep {
  /** Logits of every position fed: [rows][positions][vocabulary]. */
  readonly logits: Tensor
  /** By layer, of every position fed: [rows][heads][positions][frames]; undefined where the graph does not tell. */
  readonly crossAttention: (layer: number) => Tensor | undefined
  /** One token for each row. */
  readonly next: (tokens: ReadonlyArray<number>) => Promise<DecoderStep>
}

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

/** [rows][ids]; the rows are equally long. */
export const idsTensor = (rows: ReadonlyArray<ReadonlyArray<number>>): Tensor =>
  new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]?.length ?? 0])

const column = (tokens: ReadonlyArray<number>): Tensor => new Tensor('int64', BigInt64Array.from(tokens, BigInt), [tokens.length, 1])

/** `present.0.decoder.key` of one step is `past_key_values.0.decoder.key` of the next. */
const asPast = (results: Feeds): Feeds =>
  Object.fromEntries(
    Object.entries(results).flatMap(([name, tensor]) =>
      name.startsWith('present.') ? [[`past_key_values.${name.slice('present.'.length)}`, tensor]] : [],
    ),
  )

const logitsOf = (results: Feeds): Tensor => {
  const logits = results['logits']
  if (logits === undefined) throw new Error('the decoder has no output "logits"')
  return logits
}

const CROSS_ATTENTION = 'cross_attentions.'

const attentionIn =
  (results: Feeds): DecoderStep['crossAttention'] =>
  (layer) =>
    results[`${CROSS_ATTENTION}${layer}`]

const tellsAttention = ({ outputNames }: InferenceSession): boolean => outputNames.some((name) => name.startsWith(CROSS_ATTENTION))

/** The graph for the prompt gives the whole cache; the other one only renews the decoder's part of it. */
export const twoFileDecoder = (promptGraph: InferenceSession, nextGraph: InferenceSession): Decoder => {
  const after = (results: Feeds, past: Feeds): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => after(await nextGraph.run({ ...cache, input_ids: column(tokens) }), cache),
    }
  }
  return {
    tellsAttention: tellsAttention(promptGraph) && tellsAttention(nextGraph),
    open: async (encoded, prompts, constant = {}) =>
      after(await promptGraph.run({ ...constant, input_ids: idsTensor(prompts), encoder_hidden_states: encoded }), constant),
    release: async () => {
      await promptGraph.release()
      await nextGraph.release()
    },
  }
}

/**
 * One graph for both. After the first step only the outputs that change are fetched: the branch with a cache would
 * copy the encoder's part of it out again at every step, or give something empty for it.
 */
export const mergedDecoder = (
  graph: InferenceSession,
  { decoderLayers, decoderHeads, headSize }: { readonly decoderLayers: number; readonly decoderHeads: number; readonly headSize: number },
): Decoder => {
  const changing = graph.outputNames.filter(
    (name) => name === 'logits' || name.includes('.decoder.') || name.startsWith(CROSS_ATTENTION),
  )
  const pastNames = Array.from({ length: decoderLayers }, (_, layer) => layer).flatMap((layer) =>
    ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => `past_key_values.${layer}.${part}`),
  )
  const emptyPast = (rows: number): Feeds =>
    Object.fromEntries(pastNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [rows, decoderHeads, 0, headSize])]))
  const branch = (useCache: boolean): Tensor => new Tensor('bool', Uint8Array.of(useCache ? 1 : 0), [1])
  const after = (results: Feeds, encoded: Tensor, past: Feeds): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const feeds = { ...cache, input_ids: column(tokens), encoder_hidden_states: encoded, use_cache_branch: branch(true) }
        return after(await graph.run(feeds, changing), encoded, cache)
      },
    }
  }
  return {
    tellsAttention: tellsAttention(graph),
    open: async (encoded, prompts, constant = {}) => {
      const fixed = { ...constant, encoder_hidden_states: encoded }
      const feeds = { ...fixed, ...emptyPast(prompts.length), input_ids: idsTensor(prompts), use_cache_branch: branch(false) }
      return after(await graph.run(feeds), encoded, constant)
    },
    release: () => graph.release(),
  }
}

/** A row's logits at a position, counted from behind where it is negative; a view of what the step holds. */
export const logitsAt = ({ logits }: DecoderStep, row: number, position: number): Float32Array => {
  const { data, dims } = logits
  const [, positions = 0, vocabulary = 0] = dims
  if (!(data instanceof Float32Array)) throw new Error(`logits are ${logits.type}, not float32`)
  const at = row * positions + (position < 0 ? positions + position : position)
  return data.subarray(at * vocabulary, (at + 1) * vocabulary)
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
}

/**
 * Greedy decoding under the rules of one text or of several at once, at most `limit` tokens of each: random or confused weights may
 * never end the text. `encoded` holds a row for each; `onText` is called for each as it ends, in no order. The rows of texts that
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

  watch(({ from }) => from)
  for (;;) {
    const tokens = rows.map(advance)
    if (rows.every(({ ended }) => ended)) return
    step = await step.next(tokens)
    watch(() => 0)
  }
}
