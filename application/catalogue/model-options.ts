import type { EngineSettings } from '../../domain/live/settings.ts'
import type { Abilities } from '../ports/catalogue.ts'

/** What a session may ask of a model beyond the interface 0.6.2. */
export type ModelOption = 'auto' | 'translate' | 'words' | 'prompt' | 'hotwords'

export const optionsOf = (
  { findsLanguage, translates, hasWords, takesVocabulary }: Abilities,
): ReadonlyArray<ModelOption> => [
  ...(findsLanguage ? (['auto'] as const) : []),
  ...(translates ? (['translate'] as const) : []),
  ...(hasWords ? (['words'] as const) : []),
  ...(takesVocabulary ? (['prompt', 'hotwords'] as const) : []),
]

/** Returns the requested settings that a model accepts and ignores. */
export const ignoredOptions = (
  model: Abilities,
  { words }: Pick<EngineSettings, 'words'>,
  hasVocabulary: boolean,
): ReadonlyArray<ModelOption> => {
  const supported = optionsOf(model)
  const requested: ReadonlyArray<ModelOption> =
    [...(words === true ? (['words'] as const) : []), ...(hasVocabulary ? (['prompt', 'hotwords'] as const) : [])]
  return requested.filter((option) => !supported.includes(option))
}
