import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Provider } from './providers/execution-provider.ts'

/** `two`: a graph for the prompt and a graph for further tokens. `merged`: one graph; `use_cache_branch` selects. */
export type DecoderFiles =
  | { readonly kind: 'two'; readonly prompt: string; readonly next: string }
  | { readonly kind: 'merged'; readonly file: string }

export interface Weights {
  readonly graphs: ReadonlyArray<string>
  /** Size of all files together. */
  readonly bytes: number
  /** Whether a graph has 8-bit weights. GPU providers lack the operators for them. */
  readonly eightBits: boolean
}

export interface ModelWeights extends Weights {
  readonly encoder: string
  readonly decoder: DecoderFiles
}

/**
 * File name suffixes of the precisions. On a CPU, 8 bits need a quarter of the memory and half of the decoder's time of
 * 32 bits.
 */
export const SUFFIXES_OF = { int8: ['_quantized', '_int8'], fp32: [''], fp16: ['_fp16'] } as const
export type Precision = keyof typeof SUFFIXES_OF

/** Returns the precisions in their order of preference. */
export const preferredOn = (provider: Provider): ReadonlyArray<Precision> =>
  provider === 'cpu' ? ['int8', 'fp32', 'fp16'] : ['fp32', 'fp16', 'int8']

const hasEightBits = (encoder: string, decoder: DecoderFiles): boolean =>
  [encoder, decoder.kind === 'two' ? decoder.next : decoder.file].some((file) =>
    SUFFIXES_OF.int8.some((suffix) => file.endsWith(`${suffix}.onnx`)),
  )

const sizeOf = async (file: string): Promise<number | null> =>
  stat(file).then(
    (stats) => stats.size,
    () => null,
  )

/**
 * Finds the best graphs for a provider in an `onnx` folder. Two decoder files are better than a merged one: a merged
 * graph contains both as branches, and copies the cache of each run out of the branch.
 */
export const findWeights = async (
  folder: string,
  provider: Provider = 'cpu',
): Promise<Either<string, ModelWeights>> => {
  const suffixes = preferredOn(provider).flatMap((precision) => SUFFIXES_OF[precision])
  const total = async (files: ReadonlyArray<string>): Promise<number | null> => {
    const graphs = await Promise.all(files.map(sizeOf))
    const external = await Promise.all(files.map((file) => sizeOf(`${file}_data`)))
    return graphs.some((size) => size === null)
      ? null
      : [...graphs, ...external].reduce<number>((sum, size) => sum + (size ?? 0), 0)
  }
  const graph = (name: string, suffix: string): string => join(folder, `${name}${suffix}.onnx`)

  const encoders = suffixes.map((suffix) => graph('encoder_model', suffix))
  const decoders = suffixes.flatMap((suffix): ReadonlyArray<DecoderFiles> => [
    { kind: 'two', prompt: graph('decoder_model', suffix), next: graph('decoder_with_past_model', suffix) },
    { kind: 'merged', file: graph('decoder_model_merged', suffix) },
  ])
  for (const encoder of encoders) {
    const encoderBytes = await total([encoder])
    if (encoderBytes === null) continue
    for (const decoder of decoders) {
      const files = decoder.kind === 'two' ? [decoder.prompt, decoder.next] : [decoder.file]
      const decoderBytes = await total(files)
      if (decoderBytes === null) continue
      const [bytes, eightBits] = [encoderBytes + decoderBytes, hasEightBits(encoder, decoder)]
      return E.right({ encoder, decoder, graphs: [encoder, ...files], bytes, eightBits })
    }
    return E.left(
      'onnx/decoder_model[_quantized].onnx with decoder_with_past_model, or decoder_model_merged, is missing',
    )
  }
  return E.left('onnx/encoder_model[_quantized].onnx is missing')
}
