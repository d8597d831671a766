import { v7 } from 'uuid'
import type { EventStore } from '../application/ports/event-store.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { orThrow } from '../domain/shared/or-throw.ts'

export const EVENTS_PER_LIVE = 4
const LIVES_AT_ONCE = 500

/** The time of all events in the log. */
export const EVENT_TIME = '2026-11-21T09:30:00.123456+00:00'
const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:3', recordedAt: EVENT_TIME }
/** Returns one of a thousand user ids that no service uses. */
export const ownerOf = (liveId: number): number => 1_000_000 + (liveId % 1000)

const envelope = (key: string) => ({ k: key, iv: 'A'.repeat(16), c: 'A'.repeat(80) })

/** Returns the stored events of an ended session without a URL. */
export const historyOf = (liveId: number) => {
  const about = { liveId, userId: ownerOf(liveId), at: EVENT_TIME }
  const [senderToken, listenerToken] = [envelope(`live-${liveId}`), envelope(`live-${liveId}`)]
  const hashes = { audioUrlHash: null, senderTokenHash: 'h'.repeat(43), listenerTokenHash: 'h'.repeat(43) }
  const created = {
    ...about, commandId: v7(), worker: 'local', model: { id: 1, name: 'tiny', vram: 1000 }, language: 'en',
    translations: [],
    audioFormat: 'raw', audioUrl: null, autoStart: false, retention: false, vram: 1000, config: DEFAULT_ENGINE_SETTINGS,
    display: null,
    senderToken, listenerToken, ...hashes,
  }
  return [
    { type: 'LiveCreated', data: created },
    { type: 'SenderAttached', data: { ...about, epoch: 1, instance: 'bench' } },
    { type: 'LiveStarted', data: about },
    { type: 'LiveFinished', data: { ...about, reason: 'finish_message' } },
  ].map((event) => ({ ...event, id: v7(), metadata }))
}

/** Appends the histories of `count` ended sessions, with ids from `first`. */
export const fillWithLives = async (store: EventStore, count: number, first = 1): Promise<void> => {
  for (let from = first; from < first + count; from += LIVES_AT_ONCE) {
    const ids = Array.from({ length: Math.min(LIVES_AT_ONCE, first + count - from) }, (_, n) => from + n)
    for (const appended of await Promise.all(ids.map((id) => store.append(`live-${id}`, 'no-stream', historyOf(id)))))
      orThrow(appended)
  }
}
