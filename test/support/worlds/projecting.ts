import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Document, Documents } from '../../../application/ports/documents.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import type { EventStore, Position, StoredEvent } from '../../../application/ports/event-store.ts'
import { apiTokenStream } from '../../../domain/api-token/events.ts'
import type { StoredLiveEvent } from '../../../domain/live/events.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { Envelope } from '../../../domain/shared/event.ts'
import type { StoredUserEvent } from '../../../domain/user/events.ts'
import { userStream } from '../../../domain/user/events.ts'
import { changesOf } from '../../../projections/apply.ts'
import { modelOf } from '../../../projections/projection.ts'
import type { Projection } from '../../../projections/projection.ts'
import { after, liveCreated } from '../../unit/domain/samples.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { checkpointAt } from '../tools/checkpoints.ts'

export const right = <A>(result: E.Either<unknown, A>): A => {
  if (E.isLeft(result)) throw new Error(`unexpected refusal: ${JSON.stringify(result.left)}`)
  return result.right
}

/** Looks like a sealed text; which one it was shows only in the test's own words. */
export const envelopeOf = (text: string, key = 'live-7'): Envelope => ({ k: key, iv: 'iv', c: `sealed ${text}` })

type SealedCreated = Extract<StoredLiveEvent, { type: 'LiveCreated' }>

/** LiveCreated as it lies in the log. */
export const sealedLive = (changes: Partial<SealedCreated['data']> = {}): SealedCreated => {
  const { type, data: { vocabulary: _, ...data } } = liveCreated()
  const sealed = { senderToken: envelopeOf('sender'), listenerToken: envelopeOf('listener'), audioUrl: null }
  return { type, data: { ...data, ...sealed, ...changes } }
}

type Event = StoredLiveEvent | StoredUserEvent
type Unknown = { readonly type: string; readonly data: Readonly<Record<string, unknown>> }

const streamOf = ({ data }: Event | Unknown): string => {
  if ('liveId' in data) return liveStream(Number(data.liveId))
  if ('tokenId' in data) return apiTokenStream(Number(data['tokenId']))
  return userStream(Number('userId' in data ? data.userId : 0))
}

/** The events as the log would give them, at positions 1, 2, 3 … */
export const stored = (events: ReadonlyArray<Event | Unknown>): ReadonlyArray<StoredEvent> =>
  events.map((event, index) => ({
    id: `event ${index + 1}`,
    type: event.type,
    data: { ...event.data },
    metadata: { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(index) },
    stream: streamOf(event),
    revision: index,
    position: String(index + 1).padStart(20, '0') as Position,
  }))

/** A log that holds these events and gets no more. */
export const logOf = (events: ReadonlyArray<StoredEvent>): Pick<EventStore, 'subscribe' | 'head' | 'read'> => {
  const position = events.at(-1)?.position ?? BEGINNING
  return {
    head: () => TE.right(position),
    read: () => TE.right([]),
    subscribe: async function* (from, prefixes) {
      const isAsked = ({ stream }: StoredEvent): boolean => prefixes.some((prefix) => stream.startsWith(prefix))
      for (const event of events) if (event.position > from && isAsked(event)) yield { kind: 'event', event }
      yield { kind: 'caught-up', position }
    },
  }
}

/** Without what the projector adds. */
export const withoutPosition = (document: Document): Document => {
  const { position: _, ...rest } = document
  return rest
}

/** All documents that the events touch, by id. */
export const documentsOf = async (
  documents: Documents,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<Readonly<Record<string, Document>>> => {
  const found: Record<string, Document> = {}
  for (const id of new Set(events.flatMap(projection.touches))) {
    const document = right(await documents.get(projection.collection.name, id)())
    if (O.isSome(document)) found[id] = withoutPosition(document.value)
  }
  return found
}

/** One step of the projector: fold, documents, checkpoint. */
export const step = async (documents: Documents, projection: Projection, events: ReadonlyArray<StoredEvent>): Promise<void> => {
  const changes = right(await changesOf(documents, projection, events))
  right(await documents.commit(modelOf(projection), changes, checkpointAt(events.at(-1)?.position ?? BEGINNING))())
}

/** Given these events, then these documents: all at once, one by one, and when each comes twice. */
export const projecting = (t: ExecutionContext, projection: Projection) => ({
  given: (...history: ReadonlyArray<Event | Unknown>) => ({
    thenDocuments: async (expected: Readonly<Record<string, object>>): Promise<void> => {
      const events = stored(history)
      const ways: ReadonlyArray<readonly [string, ReadonlyArray<ReadonlyArray<StoredEvent>>]> = [
        ['all at once', [events]],
        ['one by one', events.map((event) => [event])],
        ['each twice', events.flatMap((event) => [[event], [event]])],
        ['all of it twice', [events, events]],
      ]
      for (const [way, steps] of ways) {
        const documents = createMemoryDocuments()
        right(await documents.ensure([projection.collection])())
        for (const some of steps) await step(documents, projection, some)
        t.deepEqual(await documentsOf(documents, projection, events), expected, way)
      }
    },
  }),
})
