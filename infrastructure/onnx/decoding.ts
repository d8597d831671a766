import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { applyRules, chooseToken } from './logits.ts'
import type { LogitsRules } from './logits.ts'

type Feeds = Readonly<Record<string, Tensor>>

/**
 * A decoder that answers the logits of the prompt, then of one token after the other; `constant` is fed at every step. It works on
 * several texts at once, the rows: `encoded` is [rows][frames][width], and their prompts are equally long, for these graphs have no
 * mask for what is before a shorter one.
 */
export interface Decoder {
  readonly open: (encoded: Tensor, prompts: ReadonlyArray<ReadonlyArray<number>>, constant?: Feeds) => Promise<DecoderStep>
  /** Gives the memory of the graphs back. */
  readonly release: () => Promise<void>
}

export interface DecoderStep {
  /** Logits of every position fed: [rows][positions][vocabulary]. */
  readonly logits: Tensor
  /** One token for each row. */
  readonly next: (tokens: ReadonlyArray<number>) => Promise<DecoderStep>
}

export interface Decoded {
  /** Without prompt and end of text. */
  readonly tokens: ReadonlyArray<number>
  /** Mean log probability of the tokens and, unless the limit cut them off, of the end of text. */
  readonly avgLogprob: number
  /** Logits at the first position, where the reference reads the probability of no speech. */
  readonly firstLogits: Float32Array
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

/** The graph for the prompt gives the whole cache; the other one only renews the decoder's part of it. */
export const twoFileDecoder = (promptGraph: InferenceSession, nextGraph: InferenceSession): Decoder => {
  const after = (results: Feeds, past: Feeds): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      next: async (tokens) => after(await nextGraph.run({ ...cache, input_ids: column(tokens) }), cache),
    }
  }
  return {
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
  const changing = graph.outputNames.filter((name) => name === 'logits' || name.includes('.decoder.'))
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
      next: async (tokens) => {
        const feeds = { ...cache, input_ids: column(tokens), encoder_hidden_states: encoded, use_cache_branch: branch(true) }
        return after(await graph.run(feeds, changing), encoded, cache)
      },
    }
  }
  return {
    open: async (encoded, prompts, constant = {}) => {
      const fixed = { ...constant, encoder_hidden_states: encoded }
      const feeds = { ...fixed, ...emptyPast(prompts.length), input_ids: idsTensor(prompts), use_cache_branch: branch(false) }
      return after(await graph.run(feeds), encoded, constant)
    },
    release: () => graph.release(),
  }
}

/** The logits of a row's first and last position; both are views of what the step holds. */
export const positionsOf = ({ logits }: DecoderStep, row = 0): { readonly first: Float32Array; readonly last: Float32Array } => {
  const { data, dims } = logits
  const [, positions = 0, vocabulary = 0] = dims
  if (!(data instanceof Float32Array)) throw new Error(`logits are ${logits.type}, not float32`)
  const [from, to] = [row * positions * vocabulary, (row + 1) * positions * vocabulary]
  return { first: data.subarray(from, from + vocabulary), last: data.subarray(to - vocabulary, to) }
}

/** One text of those that are decoded together. */
interface Row {
  readonly tokens: Array<number>
  logprobs: number
  ended: boolean
}

/** What to decode: at most `limit` tokens behind `prompt`. */
export interface Wanted {
  readonly prompt: ReadonlyArray<number>
  readonly limit: number
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
  const rows = wanted.map((): Row => ({ tokens: [], logprobs: 0, ended: false }))
  let step = await decoder.open(encoded, wanted.map(({ prompt }) => prompt))
  const firstLogits = rows.map((_, row) => positionsOf(step, row).first.slice())

  /** The row's next token. */
  const advance = (row: Row, at: number): number => {
    if (row.ended) return rules.endOfText
    const logits = positionsOf(step, at).last
    applyRules(logits, row.tokens, rules)
    const { token, logprob } = chooseToken(logits)
    row.logprobs += logprob
    const isEnd = token === rules.endOfText
    if (!isEnd) row.tokens.push(token)
    row.ended = isEnd || row.tokens.length >= (wanted[at]?.limit ?? 0)
    if (row.ended) {
      const chosen = row.tokens.length + (isEnd ? 1 : 0)
      onText(at, { tokens: row.tokens, avgLogprob: row.logprobs / chosen, firstLogits: firstLogits[at] ?? new Float32Array(0) })
    }
    return token
  }

  for (;;) {
    const tokens = rows.map(advance)
    if (rows.every(({ ended }) => ended)) return
    step = await step.next(tokens)
  }
}
