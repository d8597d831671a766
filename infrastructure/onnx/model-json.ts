import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedNumber, object } from '../../domain/shared/codecs.ts'

export const positive = boundedInteger(1, 1_000_000_000)
export const token = boundedInteger(0, 10_000_000)
const tokens = t.union([t.readonlyArray(token), t.null])

/** What we read of the JSON files of a Whisper folder in Hugging Face's layout; the rest of them is left alone. */
const modelConfig = object(
  {
    model_type: t.literal('whisper'),
    d_model: positive,
    decoder_layers: positive,
    decoder_attention_heads: positive,
    num_mel_bins: positive,
    max_source_positions: positive,
    max_target_positions: positive,
    vocab_size: positive,
    decoder_start_token_id: token,
    eos_token_id: token,
  },
  {
    /** Ours: what a model was trained for beyond the reference. */
    stenolog: t.exact(t.partial({ dynamic_window: t.boolean, timestamps: t.boolean })),
  },
)
export type ModelConfig = t.TypeOf<typeof modelConfig>

const generationConfig = object(
  {},
  {
    is_multilingual: t.boolean,
    lang_to_id: t.record(t.string, token),
    task_to_id: t.record(t.string, token),
    no_timestamps_token_id: token,
    decoder_start_token_id: token,
    eos_token_id: token,
    max_length: t.union([positive, t.null]),
    max_initial_timestamp_index: t.union([token, t.null]),
    suppress_tokens: tokens,
    begin_suppress_tokens: tokens,
    alignment_heads: t.union([t.readonlyArray(t.tuple([boundedInteger(0, 1000), boundedInteger(0, 1000)])), t.null]),
  },
)
export type GenerationConfig = t.TypeOf<typeof generationConfig>

const preprocessorConfig = object({
  feature_size: positive,
  sampling_rate: positive,
  n_fft: positive,
  hop_length: positive,
  chunk_length: boundedNumber(0.1, 3600),
})
export type PreprocessorConfig = t.TypeOf<typeof preprocessorConfig>

/** Of tokenizer.json only what tells special tokens; the tokenizer itself reads the rest. */
export const tokenizerJson = t.type({
  added_tokens: t.readonlyArray(t.type({ id: token, content: t.string })),
  model: t.UnknownRecord,
})
export const tokenizerConfigJson = t.UnknownRecord

export interface ModelJson {
  readonly config: ModelConfig
  readonly generation: GenerationConfig
  readonly preprocessor: PreprocessorConfig
  readonly tokenizer: t.TypeOf<typeof tokenizerJson>
  readonly tokenizerConfig: t.TypeOf<typeof tokenizerConfigJson>
}

/** The decoded file, or a sentence that names the file and the member that is wrong. */
export const readJson = async <A>(folder: string, file: string, codec: t.Decoder<unknown, A>): Promise<Either<string, A>> => {
  const content = await readFile(join(folder, file), 'utf8').then(E.right, (error: NodeJS.ErrnoException) =>
    E.left(error.code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read (${error.code ?? error.message})`),
  )
  if (E.isLeft(content)) return content
  const json = E.tryCatch(
    (): unknown => JSON.parse(content.right),
    () => `${file} is not JSON`,
  )
  if (E.isLeft(json)) return json
  const decoded = codec.decode(json.right)
  if (E.isRight(decoded)) return decoded
  const context = decoded.left.at(-1)?.context ?? []
  const path = context.map(({ key }) => key).filter((key) => key !== '' && !/^\d+$/.test(key))
  return E.left(`${file}: ${path.join('.') || 'the file'} is missing or not ${context.at(-1)?.type.name ?? 'as expected'}`)
}

/** The files of a tokenizer, or what is wrong with the first that does not fit. */
export const readTokenizer = async (folder: string) => {
  const tokenizer = await readJson(folder, 'tokenizer.json', tokenizerJson)
  if (E.isLeft(tokenizer)) return tokenizer
  const tokenizerConfig = await readJson(folder, 'tokenizer_config.json', tokenizerConfigJson)
  if (E.isLeft(tokenizerConfig)) return tokenizerConfig
  return E.right({ tokenizer: tokenizer.right, tokenizerConfig: tokenizerConfig.right })
}

/** All of a folder's JSON files, or what is wrong with the first that does not fit. */
export const readModelJson = async (folder: string): Promise<Either<string, ModelJson>> => {
  const config = await readJson(folder, 'config.json', modelConfig)
  if (E.isLeft(config)) return config
  const generation = await readJson(folder, 'generation_config.json', generationConfig)
  if (E.isLeft(generation)) return generation
  const preprocessor = await readJson(folder, 'preprocessor_config.json', preprocessorConfig)
  if (E.isLeft(preprocessor)) return preprocessor
  const tokenizer = await readTokenizer(folder)
  if (E.isLeft(tokenizer)) return tokenizer
  return E.right({
    config: config.right, generation: generation.right, preprocessor: preprocessor.right, ...tokenizer.right,
  })
}

/** What kind of model a folder says it holds; null where it does not say. */
export const readModelType = async (folder: string): Promise<string | null> => {
  const config = await readJson(folder, 'config.json', t.type({ model_type: t.string }))
  return E.isRight(config) ? config.right.model_type : null
}
