import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Abilities } from '../../../application/ports/catalogue.ts'
import { type FoundLanguage, SAMPLE_RATE, type TranscribeJob } from '../../../application/ports/engine.ts'
import { CROSS_ATTENTION } from '../decoder.ts'
import { outputNamesOf } from '../graphs/graph-outputs.ts'
import type { LogMelSettings } from './log-mel.ts'
import type { TimestampRules } from '../logits.ts'
import type { ModelWeights } from '../model-weights.ts'
import type { GenerationConfig, ModelConfig, PreprocessorConfig, WhisperJson } from './whisper-json.ts'

/** Tokens that select the language and the task of a multilingual model. */
interface MultilingualTokens {
  readonly languageTokens: ReadonlyMap<string, number>
  readonly transcribe: number
  /** Null if the model cannot translate. */
  readonly translate: number | null
}

/** The parameters of a Whisper model. Every number comes from the JSON files of its folder. */
export interface WhisperModel {
  readonly mel: LogMelSettings
  /** Length of the full window in samples. */
  readonly windowSamples: number
  /** The model was trained on windows shorter than the full one. */
  readonly dynamicWindow: boolean
  /** Seconds between two timestamp tokens. */
  readonly timePrecision: number
  readonly maxTargetPositions: number
  /** max_length of generation_config.json: maximum number of tokens after the prompt; null when it is missing. */
  readonly maxLength: number | null
  readonly decoderLayers: number
  readonly decoderHeads: number
  readonly headSize: number
  readonly startOfTranscript: number
  readonly endOfText: number
  /** Null for an English-only model, whose prompt names neither language nor task. */
  readonly multilingual: MultilingualTokens | null
  readonly timestampRules: TimestampRules
  /** Whether to decode with timestamps. */
  readonly timestamps: boolean
  readonly noSpeech: number | null
  /** Token that begins the text before the audio; null if the model lacks it. */
  readonly startOfPrevious: number | null
  /** Decoder heads whose cross-attention follows the audio; empty when they are unknown. */
  readonly alignmentHeads: ReadonlyArray<readonly [layer: number, head: number]>
  /** The model was trained with text before the audio, so a prompt and hotwords do not damage its text. */
  readonly takesVocabulary: boolean
  readonly suppressed: ReadonlyArray<number>
  readonly suppressedAtBegin: ReadonlyArray<number>
  readonly tokenizer: { readonly json: object; readonly config: object }
  readonly weights: ModelWeights
}

/** ISO 639-1 codes of languages whose tokens use another code. */
const ISO_OF_TOKEN: Readonly<Record<string, string>> = { jw: 'jv' }

/** Returns the language tokens by code: two letters, or three for `haw` and `yue`. */
const languageTokens = (idOfToken: Iterable<readonly [name: string, id: number]>): ReadonlyMap<string, number> =>
  new Map(
    [...idOfToken].flatMap(([name, id]): ReadonlyArray<[string, number]> => {
      const code = /^<\|([a-z]{2,3})\|>$/.exec(name)?.[1]
      return code === undefined ? [] : [[ISO_OF_TOKEN[code] ?? code, id]]
    }),
  )

/**
 * Size of the multilingual vocabulary. An English-only vocabulary also has all language tokens, but is smaller by 1.
 */
const MULTILINGUAL_VOCABULARY = 51_865

/**
 * True when the graphs of the decoder return the attention to the audio, from which word times are computed. A damaged
 * graph has no outputs. The load reports it.
 */
const returnsAttention = ({ decoder }: ModelWeights): boolean => {
  const graphs = decoder.kind === 'two' ? [decoder.prompt, decoder.next] : [decoder.file]
  const outputsOf = (file: string) => E.getOrElse(() => [] as ReadonlyArray<string>)(
    E.tryCatch(() => outputNamesOf(file), E.toError))
  return graphs.every((file) => outputsOf(file).some((name) => name.startsWith(CROSS_ATTENTION)))
}

/** Returns the abilities of a model. An English-only model cannot detect languages or translate. */
export const abilitiesOf = ({ multilingual, alignmentHeads, takesVocabulary, weights }: WhisperModel): Abilities => {
  const languages = multilingual === null ? ['en'] : [...multilingual.languageTokens.keys()]
  const findsLanguage = languages.length > 1
  const hasWords = alignmentHeads.length > 0 && returnsAttention(weights)
  const translates = findsLanguage && multilingual?.translate !== null
  return { languages, findsLanguage, translates, hasWords, takesVocabulary }
}

/** The language of the audio, and whether to translate it into English. */
export type LanguageAndTask = Pick<TranscribeJob, 'task'> & { readonly language: string }

/** Returns the prompt tokens with which every transcript starts. Left: why the model cannot do this. */
export const promptFor = (
  { startOfTranscript, multilingual, timestampRules, ...model }: WhisperModel,
  { language, task }: LanguageAndTask,
  timestamps = model.timestamps,
): Either<string, ReadonlyArray<number>> => {
  const ending = timestamps ? [] : [timestampRules.noTimestamps]
  const unknown = E.left(`the model does not know the language ${language}`)
  if (multilingual === null) return language === 'en' ? E.right([startOfTranscript, ...ending]) : unknown
  const languageToken = multilingual.languageTokens.get(language)
  if (languageToken === undefined) return unknown
  const taskToken = task === 'translate' ? multilingual.translate : multilingual.transcribe
  return taskToken === null
    ? E.left('the model does not translate')
    : E.right([startOfTranscript, languageToken, taskToken, ...ending])
}

/** Returns the spoken language by the logits after the start of the transcript (Radford et al., 2022). */
export const languageBy = (logits: Float32Array, { multilingual }: WhisperModel): FoundLanguage => {
  if (multilingual === null) return { code: 'en', probability: 1 }
  const rows = [...multilingual.languageTokens].map(([code, token]) => ({ code, logit: logits[token] ?? -Infinity }))
  const best = rows.reduce((first, row) => (row.logit > first.logit ? row : first))
  return { code: best.code, probability: 1 / rows.reduce((sum, { logit }) => sum + Math.exp(logit - best.logit), 0) }
}

const contradiction = (config: ModelConfig, preprocessor: PreprocessorConfig): string | null => {
  const frames = (preprocessor.chunk_length * preprocessor.sampling_rate) / preprocessor.hop_length
  if (preprocessor.sampling_rate !== SAMPLE_RATE) return `preprocessor_config.json: sampling_rate is not ${SAMPLE_RATE}`
  if (preprocessor.n_fft % 2 !== 0) return 'preprocessor_config.json: n_fft is odd'
  if (preprocessor.feature_size !== config.num_mel_bins) {
    return 'feature_size of preprocessor_config.json is not num_mel_bins of config.json'
  }
  if (frames !== 2 * config.max_source_positions) {
    return 'chunk_length and hop_length do not fit max_source_positions of config.json'
  }
  if (config.d_model % config.decoder_attention_heads !== 0)
    return 'config.json: d_model does not divide into decoder_attention_heads'
  return null
}

/**
 * Returns the tokens of a multilingual model. Its languages come from generation_config.json, as far as the
 * tokenizer has their tokens. Older exports lack this list; then they come from the tokenizer.
 */
const multilingualOf = (
  { config, generation, tokenizer }: WhisperJson,
  tokenId: (content: string) => number | undefined,
): Either<string, WhisperModel['multilingual']> => {
  const isMultilingual =
    generation.is_multilingual ?? (generation.lang_to_id !== undefined || config.vocab_size >= MULTILINGUAL_VOCABULARY)
  if (!isMultilingual) return E.right(null)
  const listed = Object.entries(generation.lang_to_id ?? {}).filter(([name, id]) => tokenId(name) === id)
  const languages = languageTokens(
    generation.lang_to_id === undefined
      ? tokenizer.added_tokens.map(({ content, id }) => [content, id] as const)
      : listed,
  )
  if (languages.size === 0) return E.left('tokenizer.json: no language token is present')
  const transcribe = generation.task_to_id?.['transcribe'] ?? tokenId('<|transcribe|>')
  if (transcribe === undefined) return E.left('generation_config.json: task_to_id.transcribe is missing')
  const translate = generation.task_to_id?.['translate'] ?? tokenId('<|translate|>') ?? null
  return E.right({ languageTokens: languages, transcribe, translate })
}

const suppressionOf = (generation: GenerationConfig): Pick<WhisperModel, 'suppressed' | 'suppressedAtBegin'> => ({
  suppressed: generation.suppress_tokens ?? [],
  suppressedAtBegin: generation.begin_suppress_tokens ?? [],
})

const shapeOf = (
  config: ModelConfig,
): Pick<WhisperModel, 'maxTargetPositions' | 'decoderLayers' | 'decoderHeads' | 'headSize'> => ({
  maxTargetPositions: config.max_target_positions,
  decoderLayers: config.decoder_layers,
  decoderHeads: config.decoder_attention_heads,
  headSize: config.d_model / config.decoder_attention_heads,
})

/** Returns the optional parameters of a model. */
const extrasOf = (
  generation: GenerationConfig,
  tokenId: (content: string) => number | undefined,
): Pick<WhisperModel, 'noSpeech' | 'startOfPrevious' | 'alignmentHeads'> => ({
  noSpeech: tokenId('<|nospeech|>') ?? tokenId('<|nocaptions|>') ?? null,
  startOfPrevious: tokenId('<|startofprev|>') ?? null,
  alignmentHeads: generation.alignment_heads ?? [],
})

/** Combines the JSON files and the weights of a model. Left: a contradiction between them. */
export const whisperModel = (json: WhisperJson, weights: ModelWeights): Either<string, WhisperModel> => {
  const { config, generation, preprocessor, tokenizer, tokenizerConfig } = json
  const problem = contradiction(config, preprocessor)
  if (problem !== null) return E.left(problem)
  const tokenId = (content: string): number | undefined =>
    tokenizer.added_tokens.find((added) => added.content === content)?.id
  const multilingual = multilingualOf(json, tokenId)
  if (E.isLeft(multilingual)) return multilingual
  const noTimestamps = generation.no_timestamps_token_id ?? tokenId('<|notimestamps|>')
  if (noTimestamps === undefined) return E.left('generation_config.json: no_timestamps_token_id is missing')

  const { feature_size, sampling_rate, n_fft, hop_length, chunk_length } = preprocessor
  return E.right({
    ...shapeOf(config),
    ...suppressionOf(generation),
    ...extrasOf(generation, tokenId),
    mel: { samplingRate: sampling_rate, fftSize: n_fft, hopLength: hop_length, melBins: feature_size },
    maxLength: generation.max_length ?? null,
    windowSamples: chunk_length * sampling_rate,
    timePrecision: chunk_length / config.max_source_positions,
    dynamicWindow: config.stenolog?.dynamic_window ?? false,
    timestamps: config.stenolog?.timestamps ?? true,
    takesVocabulary: config.stenolog?.vocabulary ?? true,
    startOfTranscript: generation.decoder_start_token_id ?? config.decoder_start_token_id,
    endOfText: generation.eos_token_id ?? config.eos_token_id,
    multilingual: multilingual.right,
    timestampRules: {
      noTimestamps,
      begin: noTimestamps + 1,
      maxInitialIndex: generation.max_initial_timestamp_index ?? null,
    },
    tokenizer: { json: tokenizer, config: tokenizerConfig },
    weights,
  })
}
