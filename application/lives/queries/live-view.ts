import { isOpen } from '../../../domain/live/state.ts'
import type { Live } from '../../../domain/live/state.ts'
import { optionalVocabulary } from '../../../domain/live/vocabulary.ts'
import type { LiveFacts, LiveView } from '../../ports/read-models.ts'

/** Returns a session without its secrets, as the read models show it. */
export const factsOf = (live: Live): LiveFacts => {
  const { status, created, autoStartPid, updatedAt } = live
  return {
    id: created.liveId,
    userId: created.userId,
    status,
    worker: created.worker,
    model: created.model,
    language: created.language,
    translations: created.translations,
    audioFormat: created.audioFormat,
    audioUrlHash: created.audioUrlHash,
    autoStart: created.autoStart,
    autoStartPid,
    retention: created.retention,
    vram: isOpen(live) ? created.vram : 0,
    config: created.config,
    display: created.display,
    createdAt: created.at,
    updatedAt,
  }
}

/** Returns a session as its owner sees it. A member whose key was erased reads `[erased]`. */
export const viewOf = (live: Live): LiveView => {
  const { audioUrl, senderToken, listenerToken } = live.created
  return { ...factsOf(live), audioUrl, senderToken, listenerToken, ...optionalVocabulary(live.vocabulary) }
}
