import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { disposeTensors, onDevice } from './device-tensors.ts'
import type { Tensors } from './device-tensors.ts'


/**
 * A decoder that answers the logits of the prompt, then of one token after the other; `constant` is fed at every step. It works on
 * several texts at once, the rows: `encoded` is [rows][frames][width], and their prompts are equally long, for these graphs have no
 * mask for what is before a shorter one.
 */
export interface Decoder {
  readonly open: (encoded: Tensor, prompts: ReadonlyArray<ReadonlyArray<number>>, constant?: Tensors) => Promise<DecoderStep>
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
  /** One token for each row. What it renews of the cache is given back: this step can then not be asked again. */
  readonly next: (tokens: ReadonlyArray<number>) => Promise<DecoderStep>
  /** Gives the cache back, at the end of a text or where it is broken off. */
  readonly close: () => void
}

/** [rows][ids]; the rows are equally long. */
export const idsTensor = (rows: ReadonlyArray<ReadonlyArray<number>>): Tensor =>
  new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]?.length ?? 0])

const column = (tokens: ReadonlyArray<number>): Tensor => new Tensor('int64', BigInt64Array.from(tokens, BigInt), [tokens.length, 1])

const PRESENT = 'present.'

/** `present.0.decoder.key` of one step is `past_key_values.0.decoder.key` of the next. */
const pastOf = (output: string): string => `past_key_values.${output.slice(PRESENT.length)}`

const asPast = (results: Tensors): Tensors =>
  Object.fromEntries(Object.entries(results).flatMap(([name, tensor]) => (name.startsWith(PRESENT) ? [[pastOf(name), tensor]] : [])))

const filterNames = (tensors: Tensors, isWanted: (name: string) => boolean): Tensors =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => isWanted(name)))

/** What the results of a step renew of the cache of the one before. */
const renewedIn = (cache: Tensors, results: Tensors): Tensors => {
  const renewed = asPast(results)
  return filterNames(cache, (name) => renewed[name] !== undefined)
}

/** Parts of a layer's cache: those that grow with the text, and those that the audio gives once. */
const [GROWING, FIXED] = [['decoder.key', 'decoder.value'], ['encoder.key', 'encoder.value']]

/** The outputs of a decoder's graphs that are the next step's cache: of the graph for the prompt or of a merged one, and of the other. */
export const cacheOutputs = (layers: number): { readonly whole: ReadonlyArray<string>, readonly growing: ReadonlyArray<string> } => {
  const named = (parts: ReadonlyArray<string>): ReadonlyArray<string> =>
    Array.from({ length: layers }, (_, layer) => parts.map((part) => `present.${layer}.${part}`)).flat()
  return { whole: named([...GROWING, ...FIXED]), growing: named(GROWING) }
}

const logitsOf = (results: Tensors): Tensor => {
  const logits = results['logits']
  if (logits === undefined) throw new Error('the decoder has no output "logits"')
  return logits
}

export const CROSS_ATTENTION = 'cross_attentions.'

const attentionIn =
  (results: Tensors): DecoderStep['crossAttention'] =>
  (layer) =>
    results[`${CROSS_ATTENTION}${layer}`]

const tellsAttention = ({ outputNames }: InferenceSession): boolean => outputNames.some((name) => name.startsWith(CROSS_ATTENTION))

/** The graph for the prompt gives the whole cache; the other one only renews the decoder's part of it. */
export const twoFileDecoder = (promptGraph: InferenceSession, nextGraph: InferenceSession): Decoder => {
  const after = (results: Tensors, past: Tensors): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const following = await nextGraph.run({ ...cache, input_ids: column(tokens) })
        disposeTensors(renewedIn(cache, following))
        return after(following, cache)
      },
      close: () => disposeTensors(cache),
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
 * copy the encoder's part of it out again at every step, or give something empty for it. Where results stay on the
 * device all have to be fetched: onnxruntime-node takes what an earlier run gave as the place for those that are not.
 */
export const mergedDecoder = (
  graph: InferenceSession,
  { decoderLayers, decoderHeads, headSize }: { readonly decoderLayers: number; readonly decoderHeads: number; readonly headSize: number },
): Decoder => {
  const isChanging = (name: string): boolean => name === 'logits' || name.includes('.decoder.') || name.startsWith(CROSS_ATTENTION)
  const changing = graph.outputNames.filter(isChanging)
  const pastNames = cacheOutputs(decoderLayers).whole.map(pastOf)
  const emptyPast = (rows: number): Tensors =>
    Object.fromEntries(pastNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [rows, decoderHeads, 0, headSize])]))
  const branch = (useCache: boolean): Tensor => new Tensor('bool', Uint8Array.of(useCache ? 1 : 0), [1])
  const after = (results: Tensors, encoded: Tensor, past: Tensors): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const feeds = { ...cache, input_ids: column(tokens), encoder_hidden_states: encoded, use_cache_branch: branch(true) }
        const fetched = await graph.run(feeds, onDevice(cache).length > 0 ? graph.outputNames : changing)
        const following = filterNames(fetched, isChanging)
        disposeTensors(filterNames(fetched, (name) => !isChanging(name)))
        disposeTensors(renewedIn(cache, following))
        return after(following, encoded, cache)
      },
      close: () => disposeTensors(cache),
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
