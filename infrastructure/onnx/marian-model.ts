import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { object } from '../../domain/shared/codecs.ts'
import { pathExists } from '../files/path-exists.ts'
import { few, positive, readJson, readTokenizer, token } from './model-json.ts'
import { findWeights, type ModelWeights } from './model-weights.ts'

const nullable = <C extends t.Mixed>(codec: C) => t.union([codec, t.null])
const sequences = t.readonlyArray(t.readonlyArray(token))

/** Members that older exports store in config.json and newer exports in generation_config.json. */
const generationMembers = {
  decoder_start_token_id: nullable(token),
  eos_token_id: nullable(t.union([token, t.readonlyArray(token)])),
  pad_token_id: nullable(token),
  forced_eos_token_id: nullable(token),
  bad_words_ids: nullable(sequences),
  max_length: nullable(positive),
}
const generationConfig = object({}, { ...generationMembers, max_new_tokens: nullable(positive) })

const marianConfig = object(
  {
    model_type: t.literal('marian'),
    d_model: positive,
    decoder_layers: few,
    decoder_attention_heads: few,
    max_position_embeddings: positive,
  },
  generationMembers,
)

/** The parameters of a Marian translator. Every number comes from the JSON files of its folder. */
export interface MarianModel {
  readonly startToken: number
  readonly endTokens: ReadonlyArray<number>
  /** Sequences whose last token must not follow the tokens before it. A sequence of one token is never emitted. */
  readonly banned: ReadonlyArray<ReadonlyArray<number>>
  /** Tokens of the longest translation, without start and end. */
  readonly maxTokens: number
  /** Tokens of the longest source, with its end. */
  readonly maxSource: number
  readonly decoderLayers: number
  readonly decoderHeads: number
  readonly headSize: number
  /** Languages as in tokenizer_config.json: `en`, `eng`, or a group such as `ROMANCE`; null when they are missing. */
  readonly source: string | null
  readonly target: string | null
  readonly tokenizer: { readonly json: object; readonly config: object }
  readonly weights: ModelWeights
}

type Config = t.TypeOf<typeof marianConfig>
type Generation = t.TypeOf<typeof generationConfig>

const readMarianJson = async (folder: string) => {
  const config = await readJson(folder, 'config.json', marianConfig)
  if (E.isLeft(config)) return config
  const hasGeneration = await pathExists(join(folder, 'generation_config.json'))
  const generation = hasGeneration
    ? await readJson(folder, 'generation_config.json', generationConfig)
    : E.right<string, Generation>({})
  if (E.isLeft(generation)) return generation
  const tokenizer = await readTokenizer(folder)
  if (E.isLeft(tokenizer)) return tokenizer
  return E.right({ config: config.right, generation: generation.right, ...tokenizer.right })
}

/** Returns the value of generation_config.json, else of config.json. */
const configured = <K extends keyof typeof generationMembers>(key: K, config: Config, generation: Generation) =>
  generation[key] ?? config[key] ?? null

/** Returns the maximum number of tokens. max_length counts the start token, and its last token may be a forced end. */
const maxTokensOf = (config: Config, generation: Generation): number => {
  const { max_new_tokens: added } = generation
  const wanted = typeof added === 'number' ? 1 + added : configured('max_length', config, generation)
  const length = Math.min(wanted ?? config.max_position_embeddings, config.max_position_embeddings)
  return Math.max(1, length - (configured('forced_eos_token_id', config, generation) === null ? 1 : 2))
}

const codeOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads a Marian translator in the layout of Hugging Face's ONNX exports, without weights. Left: the problem. */
export const readMarianDirectory = async (folder: string): Promise<Either<string, MarianModel>> => {
  const json = await readMarianJson(folder)
  if (E.isLeft(json)) return json
  const { config, generation, tokenizer, tokenizerConfig } = json.right
  const end = configured('eos_token_id', config, generation)
  if (end === null) return E.left('generation_config.json: eos_token_id is missing')
  const pad = configured('pad_token_id', config, generation)
  const startToken = configured('decoder_start_token_id', config, generation) ?? pad
  if (startToken === null) return E.left('generation_config.json: decoder_start_token_id is missing')
  if (config.d_model % config.decoder_attention_heads !== 0)
    return E.left('config.json: d_model does not divide into decoder_attention_heads')
  const weights = await findWeights(join(folder, 'onnx'))
  if (E.isLeft(weights)) return weights
  const endTokens = typeof end === 'number' ? [end] : end
  const banned = configured('bad_words_ids', config, generation) ?? []
  return E.right({
    startToken,
    endTokens,
    // Marian's padding is never text. An end token stays possible even if the files ban it.
    banned: [...(pad === null ? [] : [[pad]]), ...banned].filter(
      ([only, ...rest]) => rest.length > 0 || (only !== undefined && !endTokens.includes(only)),
    ),
    maxTokens: maxTokensOf(config, generation),
    maxSource: config.max_position_embeddings,
    decoderLayers: config.decoder_layers,
    decoderHeads: config.decoder_attention_heads,
    headSize: config.d_model / config.decoder_attention_heads,
    source: codeOf(tokenizerConfig['source_lang']),
    target: codeOf(tokenizerConfig['target_lang']),
    tokenizer: { json: tokenizer, config: tokenizerConfig },
    weights: weights.right,
  })
}
