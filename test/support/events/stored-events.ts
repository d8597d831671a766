import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore, type Position, type StoredEvent } from '../../../application/ports/event-store.ts'
import { apiTokenStream } from '../../../domain/api-token/events.ts'
import { liveStream, type StoredLiveEvent } from '../../../domain/live/events.ts'
import type { Envelope } from '../../../domain/shared/event.ts'
import { userStream, type StoredUserEvent } from '../../../domain/user/events.ts'
import { after, liveCreated } from './sample-events.ts'

/** An envelope whose content shows the text, so a test can recognise it. */
export const envelopeOf = (text: string, key = 'live-7'): Envelope => ({ k: key, iv: 'iv', c: `sealed ${text}` })

type SealedCreated = Extract<StoredLiveEvent, { type: 'LiveCreated' }>

/** LiveCreated as it is stored in the log. */
export const sealedLive = (changes: Partial<SealedCreated['data']> = {}): SealedCreated => {
  const { type, data: { vocabulary: _, ...data } } = liveCreated()
  const sealed = { senderToken: envelopeOf('sender'), listenerToken: envelopeOf('listener'), audioUrl: null }
  return { type, data: { ...data, ...sealed, ...changes } }
}

/** An event of any type, with the data as it is stored. */
export type PlainEvent =
  | StoredLiveEvent
  | StoredUserEvent
  | { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

const streamOf = ({ data }: PlainEvent): string => {
  if ('liveId' in data) return liveStream(Number(data.liveId))
  if ('tokenId' in data) return apiTokenStream(Number(data['tokenId']))
  return userStream(Number('userId' in data ? data.userId : 0))
}

/** The events as a log returns them, at positions 1, 2, 3 … */
export const storedEvents = (events: ReadonlyArray<PlainEvent>): ReadonlyArray<StoredEvent> =>
  events.map((event, index) => ({
    id: `event ${index + 1}`,
    type: event.type,
    data: { ...event.data },
    metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(index) },
    stream: streamOf(event),
    revision: index,
    position: String(index + 1).padStart(20, '0') as Position,
    storedAt: Date.parse(after(index)),
  }))

/** A log that contains these events and never grows. */
export const logOf = (events: ReadonlyArray<StoredEvent>): Pick<EventStore, 'subscribe' | 'head' | 'read'> => {
  const position = events.at(-1)?.position ?? BEGINNING
  return {
    head: async () => E.right(position),
    read: async () => E.right([]),
    subscribe: async function* (from, prefixes) {
      const isWanted = ({ stream }: StoredEvent): boolean => prefixes.some((prefix) => stream.startsWith(prefix))
      for (const event of events) if (event.position > from && isWanted(event)) yield { kind: 'event', event }
      yield { kind: 'caught-up', position }
    },
  }
}
