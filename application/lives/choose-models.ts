import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { writtenLanguage } from '../../domain/live/settings.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type {
  LanguageNotFound, LanguageNotSupported, ModelNotFound, TaskNotSupported, TranslationNotFound,
} from '../errors.ts'
import { AUTO_LANGUAGE } from '../pipeline/pipeline.ts'
import type { Catalogue, Model, TranslationPair } from '../ports/catalogue.ts'

type ChooseModelsRefusal =
  | ModelNotFound
  | LanguageNotFound
  | LanguageNotSupported
  | TaskNotSupported
  | TranslationNotFound

/** What a request names. */
interface Wanted {
  readonly model: string
  /** A code, or `auto`. */
  readonly language: string
  readonly config: Pick<EngineSettings, 'task'>
  /** Target codes. */
  readonly translations: ReadonlyArray<string>
}

export interface ChosenModels {
  readonly model: Model
  /**
   * One for each target asked for, duplicates once, in the order asked; where the language of the text is yet to be
   * found, one for each that the model can hear.
   */
  readonly pairs: ReadonlyArray<TranslationPair>
  /** The language of the text is found in the audio. */
  readonly isFound: boolean
  /** Megabytes of all of them. */
  readonly vram: number
}

const isKnown = (catalogue: Catalogue, language: string): boolean =>
  language === AUTO_LANGUAGE ||
  [...catalogue.languages(), ...catalogue.furtherLanguages()].some(({ active, iso }) => active && iso === language)

const isHeardBy = (model: Model, language: string): boolean =>
  language === AUTO_LANGUAGE ? model.findsLanguage : model.languages.includes(language)

/** What the request names, all of it active, checked in D10's order. */
export const chooseModels = (
  catalogue: Catalogue,
  { model: name, language, config, translations }: Wanted,
): Either<ChooseModelsRefusal, ChosenModels> => {
  const model = catalogue.models().find((candidate) => candidate.active && candidate.name === name)
  if (model === undefined) return E.left({ _tag: 'ModelNotFound' })
  if (!isKnown(catalogue, language)) return E.left({ _tag: 'LanguageNotFound' })
  if (!isHeardBy(model, language)) return E.left({ _tag: 'LanguageNotSupported', model: name, language })
  if (config.task === 'translate' && !model.translates) return E.left({ _tag: 'TaskNotSupported', model: name })

  const from = writtenLanguage(language, config)
  const isFound = from === AUTO_LANGUAGE
  const sources = isFound ? model.languages : [from]
  const pairs: Array<TranslationPair> = []
  for (const to of new Set(translations)) {
    const leading = catalogue.translations().filter((pair) => pair.active && pair.to === to && sources.includes(pair.from))
    if (leading.length === 0) return E.left({ _tag: 'TranslationNotFound', from, to })
    pairs.push(...leading)
  }
  return E.right({ model, pairs, isFound, vram: pairs.reduce((sum, pair) => sum + pair.vram, model.vram) })
}
