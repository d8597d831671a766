import type { StoredEvent } from '../../application/ports/event-store.ts'
import { KEPT_IN_CLEAR, KEPT_SEALED, liveEvents, type StoredLiveEvent } from '../../domain/live/events.ts'
import { pick } from '../../domain/shared/pick.ts'
import { defineProjection } from '../projection.ts'
import { type LiveDocument, LIVES } from './document.ts'

type Created = Extract<StoredLiveEvent, { type: 'LiveCreated' }>['data']

const created = (data: Created): LiveDocument => {
  // Only the order needs these names: stored documents have autoStartPid after them.
  const {
    userId, worker, model, language, translations, audioFormat, audioUrl, audioUrlHash, autoStart, ...others
  } = { ...pick(KEPT_IN_CLEAR, data), ...pick(KEPT_SEALED, data) }
  return {
    id: data.liveId,
    userId,
    status: 'pending',
    worker, model, language, translations, audioFormat, audioUrl, audioUrlHash, autoStart,
    autoStartPid: null,
    ...others,
    createdAt: data.at,
    updatedAt: null,
  }
}

type LaterEvent = Exclude<StoredLiveEvent, { readonly type: 'LiveCreated' }>

const changed = (live: LiveDocument, event: LaterEvent): LiveDocument | null => {
  switch (event.type) {
    case 'LiveStarted':
      return { ...live, status: 'active', updatedAt: event.data.at }
    case 'LiveFinished':
      return { ...live, status: 'finished', vram: 0, updatedAt: event.data.at }
    case 'LiveFailed':
      return { ...live, status: 'error', vram: 0, updatedAt: event.data.at }
    case 'SourceStarted':
      // Only auto-started sessions show a pid, and they keep it after their end.
      return live.autoStart ? { ...live, autoStartPid: event.data.pid, updatedAt: event.data.at } : live
    case 'VocabularyChanged':
      return { ...live, vocabulary: event.data.vocabulary }
    case 'LiveAborted':
    case 'LiveDeleted':
      return null
    case 'SenderAttached':
    case 'SenderDetached':
    case 'LiveTakenOver':
      return live
    default:
      return event satisfies never
  }
}

const project = (live: LiveDocument | null, event: StoredLiveEvent): LiveDocument | null => {
  if (event.type === 'LiveCreated') return created(event.data)
  return live && changed(live, event)
}

/** Sessions for the owner's lists and single reads, and for the administrators' list. */
export const lives = defineProjection({
  name: LIVES,
  collection: {
    name: LIVES,
    indexes: [
      ['id'],
      ['status', 'id'],
      ['userId', 'id'],
      ['userId', 'status', 'id'],
      ['userId', 'audioUrlHash', 'status', 'id'],
    ],
  },
  prefixes: ['live-'],
  events: liveEvents,
  touches: (event) => [String(event.data.liveId)],
  project,
})

/** Folds the events of one session into its document. Answers to writes use the same fold as the lists. */
export const foldLive = (events: ReadonlyArray<StoredEvent>): LiveDocument | null =>
  events.reduce<LiveDocument | null>(
    (live, event) => lives.project(live && { ...live }, event, '') as LiveDocument | null,
    null,
  )
