import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { object } from '../../domain/shared/codecs.ts'
import { pathExists } from '../files/path-exists.ts'
import { positive, readJson, readTokenizer, token } from './model-json.ts'
import { findWeights } from './model-weights.ts'
import type { ModelWeights } from './model-weights.ts'

const nullable = <C extends t.Mixed>(codec: C) => t.union([codec, t.null])
const sequences = t.readonlyArray(t.readonlyArray(token))

/** Members that older exports keep in config.json and newer ones in generation_config.json. */
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
    decoder_layers: positive,
    decoder_attention_heads: positive,
    max_position_embeddings: positive,
  },
  generationMembers,
)

/** Everything that running a Marian translator needs to know; every number comes from the JSON files of its folder. */
export interface MarianModel {
  readonly startToken: number
  readonly endTokens: ReadonlyArray<number>
  /** Sequences whose last token may not follow the ones before it; those of one token are never emitted. */
  readonly banned: ReadonlyArray<ReadonlyArray<number>>
  /** Tokens of the longest translation, start and end not counted. */
  readonly maxTokens: number
  /** Tokens of the longest source, its end included. */
  readonly maxSource: number
  readonly decoderLayers: number
  readonly decoderHeads: number
  readonly headSize: number
  /** As tokenizer_config.json spells them, null where it does not say: `en`, `eng`, or a group such as `ROMANCE`. */
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
  const generation = hasGeneration ? await readJson(folder, 'generation_config.json', generationConfig) : E.right<string, Generation>({})
  if (E.isLeft(generation)) return generation
  const tokenizer = await readTokenizer(folder)
  if (E.isLeft(tokenizer)) return tokenizer
  return E.right({ config: config.right, generation: generation.right, ...tokenizer.right })
}

/** The generation file's say, else config.json's. */
const settled = <K extends keyof typeof generationMembers>(key: K, config: Config, generation: Generation) =>
  generation[key] ?? config[key] ?? null

/** Tokens that greedy search may emit: the start token counts for max_length, and at its last place an end can be forced. */
const mostTokens = (config: Config, generation: Generation): number => {
  const { max_new_tokens: added } = generation
  const wanted = typeof added === 'number' ? 1 + added : settled('max_length', config, generation)
  const length = Math.min(wanted ?? config.max_position_embeddings, config.max_position_embeddings)
  return Math.max(1, length - (settled('forced_eos_token_id', config, generation) === null ? 1 : 2))
}

const codeOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Reads the folder of a Marian translator in the layout of Hugging Face's ONNX exports; loads no weights. Left: a sentence. */
export const readMarianDirectory = async (folder: string): Promise<Either<string, MarianModel>> => {
  const json = await readMarianJson(folder)
  if (E.isLeft(json)) return json
  const { config, generation, tokenizer, tokenizerConfig } = json.right
  const end = settled('eos_token_id', config, generation)
  if (end === null) return E.left('generation_config.json: eos_token_id is missing')
  const pad = settled('pad_token_id', config, generation)
  const startToken = settled('decoder_start_token_id', config, generation) ?? pad
  if (startToken === null) return E.left('generation_config.json: decoder_start_token_id is missing')
  if (config.d_model % config.decoder_attention_heads !== 0) return E.left('config.json: d_model does not divide into decoder_attention_heads')
  const weights = await findWeights(join(folder, 'onnx'))
  if (E.isLeft(weights)) return weights
  const endTokens = typeof end === 'number' ? [end] : end
  const banned = settled('bad_words_ids', config, generation) ?? []
  return E.right({
    startToken,
    endTokens,
    // Marian's padding is no word, whether the files ban it or not. The end stays possible, whatever they ban.
    banned: [...(pad === null ? [] : [[pad]]), ...banned].filter(([only, ...rest]) => rest.length > 0 || (only !== undefined && !endTokens.includes(only))),
    maxTokens: mostTokens(config, generation),
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
