import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LanguageNotFound, LanguageNotSupported, ModelNotFound, TranslationNotFound } from '../errors.ts'
import type { Catalogue, Model, TranslationPair } from '../ports/catalogue.ts'

/** What a request names. */
interface Wanted {
  readonly model: string
  readonly language: string
  /** Target codes. */
  readonly translations: ReadonlyArray<string>
}

export interface ChosenModels {
  readonly model: Model
  /** One for each target asked for, duplicates once, in the order asked. */
  readonly pairs: ReadonlyArray<TranslationPair>
  /** Megabytes of all of them. */
  readonly vram: number
}

/** What the request names, all of it active, checked in D10's order. */
export const chooseModels = (
  catalogue: Catalogue,
  { model: name, language, translations }: Wanted,
): Either<ModelNotFound | LanguageNotFound | LanguageNotSupported | TranslationNotFound, ChosenModels> => {
  const model = catalogue.models().find((candidate) => candidate.active && candidate.name === name)
  if (model === undefined) return E.left({ _tag: 'ModelNotFound' })
  const isKnown = catalogue.languages().some((candidate) => candidate.active && candidate.iso === language)
  if (!isKnown) return E.left({ _tag: 'LanguageNotFound' })
  if (!model.languages.includes(language)) return E.left({ _tag: 'LanguageNotSupported', model: name, language })

  const pairs: Array<TranslationPair> = []
  for (const to of new Set(translations)) {
    const pair = catalogue
      .translations()
      .find((candidate) => candidate.active && candidate.from === language && candidate.to === to)
    if (pair === undefined) return E.left({ _tag: 'TranslationNotFound', from: language, to })
    pairs.push(pair)
  }
  return E.right({ model, pairs, vram: pairs.reduce((sum, pair) => sum + pair.vram, model.vram) })
}
