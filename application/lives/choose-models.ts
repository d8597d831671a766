import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type EngineSettings, writtenLanguage } from '../../domain/live/settings.ts'
import type {
  LanguageNotFound, LanguageNotSupported, ModelNotFound, TaskNotSupported, TranslationNotFound,
} from '../refusals.ts'
import { AUTO_LANGUAGE } from '../pipeline/pipeline.ts'
import type { Catalogue, Model, TranslationPair } from '../ports/catalogue.ts'

type ChooseModelsRefusal =
  | ModelNotFound
  | LanguageNotFound
  | LanguageNotSupported
  | TaskNotSupported
  | TranslationNotFound

interface RequestedModels {
  readonly model: string
  /** A language code, or `auto`. */
  readonly language: string
  readonly config: Pick<EngineSettings, 'task'>
  /** Codes of the target languages, without duplicates. */
  readonly translations: ReadonlyArray<string>
}

export interface ChosenModels {
  readonly model: Model
  /**
   * One pair for each target language, without duplicates, in the order of the request. When the language is detected
   * from the audio, the source language is unknown. Then a target language has a pair for each source language with an
   * installed translator.
   */
  readonly pairs: ReadonlyArray<TranslationPair>
  /** True when the language of the text is detected from the audio. */
  readonly isLanguageDetected: boolean
  /** Megabytes of the model and all translators together. */
  readonly vram: number
}

const isKnown = (catalogue: Catalogue, language: string): boolean =>
  language === AUTO_LANGUAGE ||
  [...catalogue.languages(), ...catalogue.furtherLanguages()].some(({ active, iso }) => active && iso === language)

const canTranscribe = (model: Model, language: string): boolean =>
  language === AUTO_LANGUAGE ? model.findsLanguage : model.languages.includes(language)

/** Finds the active models that a request names. Left: the first problem, in the order that the interface specifies. */
export const chooseModels = (
  catalogue: Catalogue,
  { model: name, language, config, translations }: RequestedModels,
): Either<ChooseModelsRefusal, ChosenModels> => {
  const model = catalogue.models().find((candidate) => candidate.active && candidate.name === name)
  if (model === undefined) return E.left({ _tag: 'ModelNotFound' })
  if (!isKnown(catalogue, language)) return E.left({ _tag: 'LanguageNotFound' })
  if (!canTranscribe(model, language)) return E.left({ _tag: 'LanguageNotSupported', model: name, language })
  if (config.task === 'translate' && !model.translates) return E.left({ _tag: 'TaskNotSupported', model: name })

  const from = writtenLanguage(language, config)
  const isLanguageDetected = from === AUTO_LANGUAGE
  const sources = isLanguageDetected ? model.languages : [from]
  const pairs: Array<TranslationPair> = []
  for (const to of translations) {
    const matching = catalogue.translations()
      .filter((pair) => pair.active && pair.to === to && sources.includes(pair.from))
    if (matching.length === 0) return E.left({ _tag: 'TranslationNotFound', from, to })
    pairs.push(...matching)
  }
  return E.right({ model, pairs, isLanguageDetected, vram: pairs.reduce((sum, pair) => sum + pair.vram, model.vram) })
}
