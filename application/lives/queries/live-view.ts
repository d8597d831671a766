import { KEPT_IN_CLEAR, KEPT_SEALED } from '../../../domain/live/events.ts'
import { isOpen, type Live } from '../../../domain/live/state.ts'
import { optionalVocabulary } from '../../../domain/live/vocabulary.ts'
import { pick } from '../../../domain/shared/pick.ts'
import type { LiveFacts, LiveView } from '../../ports/read-models.ts'

/** Returns a session without its secrets, as the read models show it. */
export const factsOf = (live: Live): LiveFacts => {
  const { status, created, autoStartPid, updatedAt } = live
  return {
    ...pick(KEPT_IN_CLEAR, created),
    id: created.liveId,
    status,
    autoStartPid,
    vram: isOpen(live) ? created.vram : 0,
    createdAt: created.at,
    updatedAt,
  }
}

/** Returns a session as its owner sees it. A member whose key was erased reads `[erased]`. */
export const viewOf = (live: Live): LiveView => {
  const { vocabulary: _first, ...sealed } = pick(KEPT_SEALED, live.created)
  return { ...factsOf(live), ...sealed, ...optionalVocabulary(live.vocabulary) }
}
