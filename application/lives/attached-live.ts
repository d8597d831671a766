import type { Live } from '../../domain/live/decider.ts'
import type { AttachedLive } from '../services.ts'

/** A live as its sockets, its source and its pipeline need it. */
export const attachedLive = ({ status, epoch, created }: Live): AttachedLive => {
  const { userId, model, language, translations, audioFormat, audioUrl, autoStart, config } = created
  const targets = translations.map(({ model: translator, to }) => ({ model: translator, to }))
  return { epoch, userId, status, model: model.name, language, translations: targets, audioFormat, audioUrl, autoStart, config }
}
