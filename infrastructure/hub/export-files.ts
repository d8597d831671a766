import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { preferredOn, SUFFIXES_OF } from '../onnx/model-weights.ts'
import type { Precision } from '../onnx/model-weights.ts'
import type { Provider } from '../onnx/providers/execution-provider.ts'
import type { ListedFile } from './repository.ts'

/** The first two are in every model that we run; whether the others must be, the kind of the model decides. */
const JSON_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'preprocessor_config.json']
const REQUIRED_JSON = JSON_FILES.slice(0, 3)
/** Graphs that make a model: the encoder, and a decoder in two files, or else in one. */
const DECODERS = [['decoder_model', 'decoder_with_past_model'], ['decoder_model_merged']] as const

const graphsWith = (files: ReadonlyMap<string, ListedFile>, suffix: string): ReadonlyArray<string> | null => {
  const path = (graph: string): string => `onnx/${graph}${suffix}.onnx`
  const decoder = DECODERS.find((graphs) => graphs.every((graph) => files.has(path(graph))))
  return files.has(path('encoder_model')) && decoder !== undefined ? ['encoder_model', ...decoder].map(path) : null
}

const graphsOf = (files: ReadonlyMap<string, ListedFile>, precision: Precision): ReadonlyArray<string> | null =>
  SUFFIXES_OF[precision].map((suffix) => graphsWith(files, suffix)).find((graphs) => graphs !== null) ?? null

/** Weights beside a graph: those of more than two gigabytes do not fit into it, and may be in several files. */
const isDataOf = (graph: string, path: string): boolean => path.startsWith(`${graph}_data`) && /^(?:_\d+)?$/.test(path.slice(graph.length + '_data'.length))

/**
 * The files that the engine needs of a repository or directory, in the order in which they are best fetched: the small ones that can
 * tell that it is no model for us come first. Unless a precision is asked for, the one that `provider` runs best; translators run on the CPU.
 * Left: what is missing.
 */
export const chooseFiles = (
  all: ReadonlyArray<ListedFile>,
  wanted: Precision | null,
  provider: Provider = 'cpu',
): Either<string, { readonly precision: Precision; readonly files: ReadonlyArray<ListedFile> }> => {
  const files = new Map(all.map((file) => [file.path, file]))
  const missing = REQUIRED_JSON.filter((path) => !files.has(path))
  if (missing.length > 0) return E.left(`${missing.join(' and ')} is missing`)
  const isSpeech = files.has('preprocessor_config.json')
  const there = preferredOn(isSpeech ? provider : 'cpu').filter((precision) => graphsOf(files, precision) !== null)
  const precision = wanted ?? there[0]
  const graphs = precision === undefined ? null : graphsOf(files, precision)
  if (precision === undefined || graphs === null) {
    if (there.length === 0) return E.left('onnx/encoder_model[…].onnx with a decoder is missing: it holds no ONNX export that the engine runs')
    return E.left(`there is no ${precision ?? 'such'} export; there is ${there.join(' and ')}`)
  }
  const names = [...JSON_FILES, ...graphs.flatMap((graph) => [graph, ...[...files.keys()].filter((path) => isDataOf(graph, path)).sort()])]
  return E.right({ precision, files: names.flatMap((name) => files.get(name) ?? []) })
}
