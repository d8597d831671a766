import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { disposeTensors, onDevice, type Tensors } from './device-tensors.ts'

/**
 * A decoder returns the logits (scores of all tokens) of the prompt, then of one token after the other. It works on
 * several texts at once, the rows: `encoded` is [rows][frames][width]. All prompts have the same length, because the
 * graphs have no mask for padding. `constant` is fed at every step.
 */
export interface Decoder {
  readonly open: (
    encoded: Tensor,
    prompts: ReadonlyArray<ReadonlyArray<number>>,
    constant?: Tensors,
  ) => Promise<DecoderStep>
  /** The graphs have outputs for the cross-attention. */
  readonly hasAttention: boolean
  /** Releases the memory of the graphs. */
  readonly release: () => Promise<void>
}

export interface DecoderStep {
  /** Logits of every input position: [rows][positions][vocabulary]. */
  readonly logits: Tensor
  /** Attention of a layer: [rows][heads][positions][frames]; undefined without an output for it. */
  readonly crossAttention: (layer: number) => Tensor | undefined
  /** Feeds one token per row. Releases the replaced parts of the cache, so it can be called only once. */
  readonly next: (tokens: ReadonlyArray<number>) => Promise<DecoderStep>
  /** Releases the cache at the end of the texts, or when they are cancelled. */
  readonly close: () => void
}

/** Returns a tensor [rows][ids]. All rows must have the same length. */
export const idsTensor = (rows: ReadonlyArray<ReadonlyArray<number>>): Tensor =>
  new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]?.length ?? 0])

const column = (tokens: ReadonlyArray<number>): Tensor =>
  new Tensor('int64', BigInt64Array.from(tokens, BigInt), [tokens.length, 1])

const PRESENT = 'present.'

/** `present.0.decoder.key` of one step is `past_key_values.0.decoder.key` of the next. */
const pastOf = (output: string): string => `past_key_values.${output.slice(PRESENT.length)}`

const asPast = (results: Tensors): Tensors =>
  Object.fromEntries(
    Object.entries(results).flatMap(([name, tensor]) => (name.startsWith(PRESENT) ? [[pastOf(name), tensor]] : [])),
  )

const filterNames = (tensors: Tensors, isWanted: (name: string) => boolean): Tensors =>
  Object.fromEntries(Object.entries(tensors).filter(([name]) => isWanted(name)))

/** Returns the tensors of a cache that the results of the next step replace. */
const replacedIn = (cache: Tensors, results: Tensors): Tensors => {
  const replacements = asPast(results)
  return filterNames(cache, (name) => replacements[name] !== undefined)
}

/** Parts of a layer's cache: parts that grow with the text, and parts that depend only on the audio. */
const [GROWING, FIXED] = [
  ['decoder.key', 'decoder.value'],
  ['encoder.key', 'encoder.value'],
]

/**
 * Names of the outputs that are the next step's cache: `whole` for a prompt graph or merged graph, `growing` for a
 * graph of further tokens.
 */
export const cacheOutputs = (
  layers: number,
): { readonly whole: ReadonlyArray<string>; readonly growing: ReadonlyArray<string> } => {
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

const hasAttention = ({ outputNames }: InferenceSession): boolean =>
  outputNames.some((name) => name.startsWith(CROSS_ATTENTION))

/**
 * Creates a decoder of two graphs. The prompt graph returns the whole cache, the next graph only the growing part.
 * `isRead`: whether an output is read; other outputs are not fetched, because each copy from a GPU takes time.
 */
export const twoFileDecoder = (
  promptGraph: InferenceSession,
  nextGraph: InferenceSession,
  isRead: (output: string) => boolean = () => true,
): Decoder => {
  const run = (graph: InferenceSession, feeds: Tensors): Promise<Tensors> =>
    graph.run(feeds, graph.outputNames.filter(isRead))
  const stepAfter = (results: Tensors, past: Tensors): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const following = await run(nextGraph, { ...cache, input_ids: column(tokens) })
        disposeTensors(replacedIn(cache, following))
        return stepAfter(following, cache)
      },
      close: () => disposeTensors(cache),
    }
  }
  return {
    hasAttention: hasAttention(promptGraph) && hasAttention(nextGraph),
    open: async (encoded, prompts, constant = {}) =>
      stepAfter(
        await run(promptGraph, { ...constant, input_ids: idsTensor(prompts), encoder_hidden_states: encoded }),
        constant,
      ),
    release: async () => {
      await promptGraph.release()
      await nextGraph.release()
    },
  }
}

/**
 * Creates a decoder of one merged graph. After the first step it fetches only the outputs that change, because the
 * branch with a cache copies the encoder's part at every step, or returns it empty. If results stay on the device, it
 * must fetch all outputs: onnxruntime-node uses the results of an earlier run as the buffers of missing outputs.
 */
export const mergedDecoder = (
  graph: InferenceSession,
  {
    decoderLayers,
    decoderHeads,
    headSize,
  }: { readonly decoderLayers: number; readonly decoderHeads: number; readonly headSize: number },
): Decoder => {
  const isChanging = (name: string): boolean =>
    name === 'logits' || name.includes('.decoder.') || name.startsWith(CROSS_ATTENTION)
  const changing = graph.outputNames.filter(isChanging)
  const pastNames = cacheOutputs(decoderLayers).whole.map(pastOf)
  const emptyPast = (rows: number): Tensors =>
    Object.fromEntries(
      pastNames.map((name) => [name, new Tensor('float32', new Float32Array(0), [rows, decoderHeads, 0, headSize])]),
    )
  const branch = (useCache: boolean): Tensor => new Tensor('bool', Uint8Array.of(useCache ? 1 : 0), [1])
  const stepAfter = (results: Tensors, encoded: Tensor, past: Tensors): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      crossAttention: attentionIn(results),
      next: async (tokens) => {
        const feeds = {
          ...cache,
          input_ids: column(tokens),
          encoder_hidden_states: encoded,
          use_cache_branch: branch(true),
        }
        const fetched = await graph.run(feeds, onDevice(cache).length > 0 ? graph.outputNames : changing)
        const following = filterNames(fetched, isChanging)
        disposeTensors(filterNames(fetched, (name) => !isChanging(name)))
        disposeTensors(replacedIn(cache, following))
        return stepAfter(following, encoded, cache)
      },
      close: () => disposeTensors(cache),
    }
  }
  return {
    hasAttention: hasAttention(graph),
    open: async (encoded, prompts, constant = {}) => {
      const fixed = { ...constant, encoder_hidden_states: encoded }
      const feeds = {
        ...fixed,
        ...emptyPast(prompts.length),
        input_ids: idsTensor(prompts),
        use_cache_branch: branch(false),
      }
      return stepAfter(await graph.run(feeds), encoded, constant)
    },
    release: () => graph.release(),
  }
}

/** Returns a view of a row's logits at a position. A negative position counts from the end. */
export const logitsAt = ({ logits }: DecoderStep, row: number, position: number): Float32Array => {
  const { data, dims } = logits
  const [, positions = 0, vocabulary = 0] = dims
  if (!(data instanceof Float32Array)) throw new Error(`logits are ${logits.type}, not float32`)
  const index = row * positions + (position < 0 ? positions + position : position)
  return data.subarray(index * vocabulary, (index + 1) * vocabulary)
}
