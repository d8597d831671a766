import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'

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

export const CROSS_ATTENTION = 'cross_attentions.'

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
