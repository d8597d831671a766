import type { LiveCreated } from '../../../domain/live/events.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { EventOf } from '../../../domain/shared/event.ts'

/** Returns the instant `milliseconds` after 2026-11-21 00:00 UTC, in the stored format with microseconds. */
export const after = (milliseconds: number): string =>
  new Date(Date.UTC(2026, 10, 21) + milliseconds).toISOString().replace('Z', '000+00:00')

type LiveCreatedData = EventOf<typeof LiveCreated>['data']

/** Session 7 of user 3 with raw audio, created at `after(0)`. */
export const liveCreated = (
  changes: Partial<LiveCreatedData> = {},
): { readonly type: 'LiveCreated'; readonly data: LiveCreatedData } => ({
  type: 'LiveCreated',
  data: {
    liveId: 7,
    userId: 3,
    at: after(0),
    commandId: 'create-7',
    worker: 'gpu-0',
    model: { id: 1, name: 'tiny', vram: 1000 },
    language: 'en',
    translations: [],
    audioFormat: 'raw',
    audioUrl: null,
    audioUrlHash: null,
    autoStart: false,
    retention: false,
    vram: 1000,
    config: DEFAULT_ENGINE_SETTINGS,
    display: null,
    senderToken: 'sender',
    senderTokenHash: 'hash of sender',
    listenerToken: 'listener',
    listenerTokenHash: 'hash of listener',
    ...changes,
  },
})
