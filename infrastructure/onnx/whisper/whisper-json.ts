import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { boundedInteger, boundedNumber, object } from '../../../domain/shared/codecs.ts'
import {
  few, positive, readJson, readTokenizer, token, type tokenizerConfigJson, type tokenizerJson,
} from '../model-json.ts'

const tokens = t.union([t.readonlyArray(token), t.null])

/** The members that we read of a Whisper folder's JSON files in Hugging Face's layout. */
const modelConfig = object(
  {
    model_type: t.literal('whisper'),
    d_model: positive,
    decoder_layers: few,
    decoder_attention_heads: few,
    num_mel_bins: few,
    max_source_positions: positive,
    max_target_positions: positive,
    vocab_size: positive,
    decoder_start_token_id: token,
    eos_token_id: token,
  },
  {
    /** Our own member: abilities of a model beyond the reference. */
    stenolog: t.exact(t.partial({ dynamic_window: t.boolean, timestamps: t.boolean, vocabulary: t.boolean })),
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
  feature_size: few,
  sampling_rate: positive,
  n_fft: positive,
  hop_length: positive,
  chunk_length: boundedNumber(0.1, 3600),
})
export type PreprocessorConfig = t.TypeOf<typeof preprocessorConfig>

export interface WhisperJson {
  readonly config: ModelConfig
  readonly generation: GenerationConfig
  readonly preprocessor: PreprocessorConfig
  readonly tokenizer: t.TypeOf<typeof tokenizerJson>
  readonly tokenizerConfig: t.TypeOf<typeof tokenizerConfigJson>
}

/** Reads all JSON files of a folder. Left: the problem with the first bad file. */
export const readWhisperJson = async (folder: string): Promise<Either<string, WhisperJson>> => {
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
