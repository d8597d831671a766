import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { applyRules, chooseToken } from './logits.ts'
import type { LogitsRules } from './logits.ts'

type Feeds = Readonly<Record<string, Tensor>>

/** A decoder that answers the logits of the prompt, then of one token after the other; `constant` is fed at every step. */
export interface Decoder {
  readonly open: (encoded: Tensor, prompt: ReadonlyArray<number>, constant?: Feeds) => Promise<DecoderStep>
  /** Gives the memory of the graphs back. */
  readonly release: () => Promise<void>
}

export interface DecoderStep {
  /** Logits of every position fed: [positions][vocabulary]. */
  readonly logits: Tensor
  readonly next: (token: number) => Promise<DecoderStep>
}

export interface Decoded {
  /** Without prompt and end of text. */
  readonly tokens: ReadonlyArray<number>
  /** Mean log probability of the tokens and, unless the limit cut them off, of the end of text. */
  readonly avgLogprob: number
  /** Logits at the first position, where the reference reads the probability of no speech. */
  readonly firstLogits: Float32Array
}

export const idsTensor = (ids: ReadonlyArray<number>): Tensor => new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length])

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
      next: async (token) => after(await nextGraph.run({ ...cache, input_ids: idsTensor([token]) }), cache),
    }
  }
  return {
    open: async (encoded, prompt, constant = {}) =>
      after(await promptGraph.run({ ...constant, input_ids: idsTensor(prompt), encoder_hidden_states: encoded }), constant),
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
  const emptyPast: Feeds = Object.fromEntries(
    Array.from({ length: decoderLayers }, (_, layer) => layer).flatMap((layer) =>
      ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'].map((part) => [
        `past_key_values.${layer}.${part}`,
        new Tensor('float32', new Float32Array(0), [1, decoderHeads, 0, headSize]),
      ]),
    ),
  )
  const branch = (useCache: boolean): Tensor => new Tensor('bool', Uint8Array.of(useCache ? 1 : 0), [1])
  const after = (results: Feeds, encoded: Tensor, past: Feeds): DecoderStep => {
    const cache = { ...past, ...asPast(results) }
    return {
      logits: logitsOf(results),
      next: async (token) => {
        const feeds = { ...cache, input_ids: idsTensor([token]), encoder_hidden_states: encoded, use_cache_branch: branch(true) }
        return after(await graph.run(feeds, changing), encoded, cache)
      },
    }
  }
  return {
    open: async (encoded, prompt, constant = {}) => {
      const fixed = { ...constant, encoder_hidden_states: encoded }
      const feeds = { ...fixed, ...emptyPast, input_ids: idsTensor(prompt), use_cache_branch: branch(false) }
      return after(await graph.run(feeds), encoded, constant)
    },
    release: () => graph.release(),
  }
}

/** The logits of the first and of the last position; both are views of what the step holds. */
export const positionsOf = ({ logits }: DecoderStep): { readonly first: Float32Array; readonly last: Float32Array } => {
  const { data, dims } = logits
  const vocabulary = dims.at(-1) ?? 0
  if (!(data instanceof Float32Array)) throw new Error(`logits are ${logits.type}, not float32`)
  return { first: data.subarray(0, vocabulary), last: data.subarray(data.length - vocabulary) }
}

/** Greedy decoding under the rules, at most `limit` tokens: random or confused weights may never end the text. */
export const decodeGreedily = async (
  decoder: Decoder,
  encoded: Tensor,
  prompt: ReadonlyArray<number>,
  rules: LogitsRules,
  limit: number,
): Promise<Decoded> => {
  const tokens: number[] = []
  let logprobs = 0
  let step = await decoder.open(encoded, prompt)
  const firstLogits = positionsOf(step).first.slice()
  for (;;) {
    const logits = positionsOf(step).last
    applyRules(logits, tokens, rules)
    const { token, logprob } = chooseToken(logits)
    logprobs += logprob
    if (token === rules.endOfText) return { tokens, avgLogprob: logprobs / (tokens.length + 1), firstLogits }
    tokens.push(token)
    if (tokens.length >= limit) return { tokens, avgLogprob: logprobs / tokens.length, firstLogits }
    step = await step.next(token)
  }
}
