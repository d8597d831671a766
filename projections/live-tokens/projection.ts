import { liveEvents, type StoredLiveEvent } from '../../domain/live/events.ts'
import { defineProjection } from '../projection.ts'
import { LIVE_TOKENS, type LiveTokenDocument } from './document.ts'

const senderId = (liveId: number): string => `${liveId}-sender`
const listenerId = (liveId: number): string => `${liveId}-listener`

const touches = (event: StoredLiveEvent): ReadonlyArray<string> => {
  switch (event.type) {
    case 'LiveCreated':
    case 'LiveAborted':
    case 'LiveDeleted':
      return [senderId(event.data.liveId), listenerId(event.data.liveId)]
    // An ended session keeps its tokens, so a late socket learns how the session ended.
    case 'LiveStarted':
    case 'LiveFinished':
    case 'LiveFailed':
    case 'SourceStarted':
    case 'SenderAttached':
    case 'SenderDetached':
    case 'LiveTakenOver':
    case 'VocabularyChanged':
      return []
    default:
      return event satisfies never
  }
}

const project = (current: LiveTokenDocument | null, event: StoredLiveEvent, id: string): LiveTokenDocument | null => {
  switch (event.type) {
    case 'LiveCreated': {
      const { liveId, userId, senderTokenHash, listenerTokenHash } = event.data
      return id === senderId(liveId)
        ? { liveId, userId, role: 'sender', hash: senderTokenHash }
        : { liveId, userId, role: 'listener', hash: listenerTokenHash }
    }
    case 'LiveAborted':
    case 'LiveDeleted':
      return null
    case 'LiveStarted':
    case 'LiveFinished':
    case 'LiveFailed':
    case 'SourceStarted':
    case 'SenderAttached':
    case 'SenderDetached':
    case 'LiveTakenOver':
    case 'VocabularyChanged':
      return current
    default:
      return event satisfies never
  }
}

/** Finds the session and the role (sender or listener) of a token. */
export const liveTokens = defineProjection({
  name: 'live-tokens',
  collection: { name: LIVE_TOKENS, indexes: [['hash', 'liveId']] },
  prefixes: ['live-'],
  events: liveEvents,
  touches,
  project,
})
