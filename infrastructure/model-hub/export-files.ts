import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type Precision, preferredOn, SUFFIXES_OF } from '../onnx/model-weights.ts'
import type { Provider } from '../onnx/providers/execution-provider.ts'
import type { ListedFile } from './repository.ts'

/** Every model that we run has these files. */
const REQUIRED_JSON = ['config.json', 'tokenizer.json', 'tokenizer_config.json']
/** The kind of the model decides whether it has the last two files. */
const JSON_FILES = [...REQUIRED_JSON, 'generation_config.json', 'preprocessor_config.json']
/** Graphs of a decoder: two files, or one merged file. A model also has the graph of an encoder. */
const DECODERS = [['decoder_model', 'decoder_with_past_model'], ['decoder_model_merged']] as const

const graphsWith = (files: ReadonlyMap<string, ListedFile>, suffix: string): ReadonlyArray<string> | null => {
  const path = (graph: string): string => `onnx/${graph}${suffix}.onnx`
  const decoder = DECODERS.find((graphs) => graphs.every((graph) => files.has(path(graph))))
  return files.has(path('encoder_model')) && decoder !== undefined ? ['encoder_model', ...decoder].map(path) : null
}

const graphsOf = (files: ReadonlyMap<string, ListedFile>, precision: Precision): ReadonlyArray<string> | null =>
  SUFFIXES_OF[precision].map((suffix) => graphsWith(files, suffix)).find((graphs) => graphs !== null) ?? null

/** Whether a file contains weights of a graph. Weights of more than 2 GB are in separate files next to the graph. */
const isDataOf = (graph: string, path: string): boolean =>
  path.startsWith(`${graph}_data`) && /^(?:_\d+)?$/.test(path.slice(graph.length + '_data'.length))

/** Whether a file contains weights of any graph. */
export const isExternalData = (path: string): boolean => path.includes('.onnx_data')

/**
 * Chooses the files that the engine needs from a repository or directory, in download order. The small files come
 * first, because they show whether the engine can run the model. Without a `wanted` precision it chooses the best one
 * for `provider`, or for the CPU in the case of translators. Left: the missing files.
 */
export const chooseFiles = (
  all: ReadonlyArray<ListedFile>,
  wanted: Precision | null,
  provider: Provider = 'cpu',
): Either<string, { readonly precision: Precision; readonly files: ReadonlyArray<ListedFile> }> => {
  const files = new Map(all.map((file) => [file.path, file]))
  const missing = REQUIRED_JSON.filter((path) => !files.has(path))
  if (missing.length > 0) return E.left(`missing files: ${missing.join(', ')}`)
  const isSpeech = files.has('preprocessor_config.json')
  const preferred = preferredOn(isSpeech ? provider : 'cpu')
  const available = preferred.filter((precision) => graphsOf(files, precision) !== null)
  const precision = wanted ?? available[0]
  const graphs = precision === undefined ? null : graphsOf(files, precision)
  if (precision === undefined || graphs === null) {
    if (available.length === 0)
      return E.left('no ONNX export for this engine: onnx/encoder_model[…].onnx with a decoder is missing')
    return E.left(`no ${String(precision)} export; available: ${available.join(', ')}`)
  }
  const dataOf = (graph: string): ReadonlyArray<string> =>
    [...files.keys()].filter((path) => isDataOf(graph, path)).sort()
  const names = [...JSON_FILES, ...graphs.flatMap((graph) => [graph, ...dataOf(graph)])]
  return E.right({ precision, files: names.flatMap((name) => files.get(name) ?? []) })
}
