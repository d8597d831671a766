import type { Live } from '../../domain/live/state.ts'
import type { AudioFormat } from '../../domain/live/events.ts'
import { type EngineSettings, writtenLanguage } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { LiveStatus } from '../ports/read-models.ts'
import type { TranslationTarget } from '../pipeline/translations.ts'

/** The data of a session that its sockets, its source and its pipeline need. */
export interface AttachedLive {
  readonly term: number
  readonly userId: number
  readonly status: LiveStatus
  readonly model: string
  readonly language: string
  readonly translations: ReadonlyArray<TranslationTarget>
  readonly audioFormat: AudioFormat
  /** May contain secrets. Null for the audio format raw. */
  readonly audioUrl: string | null
  readonly autoStart: boolean
  readonly config: EngineSettings
  readonly vocabulary: GivenVocabulary
}

export const attachedLive = ({ status, term, created, vocabulary }: Live): AttachedLive => {
  const { userId, model, language, translations, audioFormat, audioUrl, autoStart, config } = created
  const written = writtenLanguage(language, config)
  const targets = translations.map(({ model: translator, from = written, to }) => ({ model: translator, from, to }))
  return {
    term, userId, status, model: model.name, language, translations: targets, audioFormat, audioUrl, autoStart, config,
    vocabulary,
  }
}
