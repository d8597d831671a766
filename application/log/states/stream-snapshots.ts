import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { eventReader } from '../../../domain/read-event.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import { parseJson } from '../../../domain/shared/parse-json.ts'
import { partsOf, type SnapshotFormat, snapshotStream, StateSnapshotTaken } from '../../../domain/shared/snapshot.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { EventStore, ExpectedRevision, Revision, StoredEvent, StoreUnavailable } from '../../ports/event-store.ts'
import type { Keyring, KeyringUnavailable } from '../../ports/keyring.ts'
import { openEach, sealEvents } from '../event-serialization.ts'
import { ownOrigin } from '../origin.ts'

/** A state from a snapshot. Use it only if the stream has the event `eventId` at `revision`. */
export interface Saved<State> {
  readonly state: State
  readonly revision: Revision
  readonly eventId: string
}

/** The snapshots of long streams. They only save time: without one, a stream is read from its beginning. */
export interface StreamSnapshots {
  /** Returns the newest snapshot up to a revision. Null: there is none, or it cannot be used. */
  readonly find: <State>(
    stream: string, format: SnapshotFormat<State>, upTo: Revision,
  ) => Promise<Either<StoreUnavailable | KeyringUnavailable, Saved<State> | null>>
  /** Begins to write a snapshot, unless one of this stream is being written. A failure is logged, not retried. */
  readonly save: <State>(stream: string, format: SnapshotFormat<State>, saved: Saved<State>) => void
  /** Resolves when no snapshot is being written. */
  readonly idle: () => Promise<void>
}

type Part = StateSnapshotTaken['data']
type Read<A> = Promise<Either<StoreUnavailable, A>>

const partOf = (event: StoredEvent): Omit<Part, 'sealed'> | undefined => eventReader([StateSnapshotTaken])(event)?.data

/** Deletes the snapshots of a stream whose key is erased. May be repeated. */
export const deleteSnapshots = async (
  store: Pick<EventStore, 'read' | 'deleteStream'>,
  stream: string,
): Promise<Either<StoreUnavailable, void>> => {
  const name = snapshotStream(stream)
  const newest = await store.read(name, { direction: 'backwards', limit: 1 })
  if (E.isLeft(newest) && newest.left._tag === 'StoreUnavailable') return E.left(newest.left)
  // Most streams are short. Deleting what does not exist would create something in EventStoreDB.
  return E.isRight(newest) && newest.right.length === 0 ? E.right(undefined) : await store.deleteStream(name)
}

interface SnapshotDeps {
  readonly store: Pick<EventStore, 'append' | 'read' | 'setMetadata'>
  readonly keyring: Pick<Keyring, 'open' | 'seal'>
  readonly environment: Pick<Environment, 'newId' | 'now' | 'instance'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
}

export const createStreamSnapshots = ({ store, keyring, environment, logger }: SnapshotDeps): StreamSnapshots => {
  const writing = new Map<string, Promise<void>>()

  /** Reads events of a snapshot stream. Damaged events are left out, since no snapshot is needed. */
  const read = async (name: string, options: Parameters<EventStore['read']>[1]): Read<ReadonlyArray<StoredEvent>> => {
    const events = await store.read(name, options)
    return E.isLeft(events) && events.left._tag === 'LogCorrupted' ? E.right([]) : (events as Awaited<Read<never>>)
  }

  const eventAt = async (name: string, from: Revision): Read<StoredEvent | undefined> => {
    const found = from < 0 ? E.right([]) : await read(name, { from, limit: 1 })
    return E.map(([event]: ReadonlyArray<StoredEvent>) => event)(found)
  }

  /** Returns the last event of the newest complete snapshot up to a revision, if there is one. */
  const lastPartUpTo = async (name: string, upTo: Revision): Read<StoredEvent | undefined> => {
    const newest = await read(name, { direction: 'backwards', limit: 1 })
    if (E.isLeft(newest)) return newest
    const [event] = newest.right
    const part = event && partOf(event)
    if (event === undefined || part === undefined) return E.right(undefined)
    if (part.revision <= upTo) {
      const isComplete = part.part === part.parts - 1
      return isComplete ? E.right(event) : await eventAt(name, event.revision - part.part - 1)
    }
    let low = -1
    let high = event.revision
    let last: StoredEvent | undefined
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const found = await eventAt(name, middle)
      if (E.isLeft(found)) return found
      if (((found.right && partOf(found.right)?.revision) ?? Infinity) <= upTo) [low, last] = [middle, found.right]
      else high = middle
    }
    return E.right(last)
  }

  /** Returns the events of the snapshot that ends with `last`. Empty: it is not complete. */
  const readParts = async (name: string, last: StoredEvent | undefined): Read<ReadonlyArray<StoredEvent>> => {
    const end = last && partOf(last)
    if (last === undefined || end === undefined || end.part !== end.parts - 1) return E.right([])
    if (end.parts === 1) return E.right([last])
    const all = await read(name, { from: last.revision - end.part, limit: end.parts })
    const isPart = (event: StoredEvent, index: number): boolean => {
      const part = partOf(event)
      return part?.part === index && part.parts === end.parts && part.eventId === end.eventId
    }
    return E.map((events: ReadonlyArray<StoredEvent>) =>
      events.length === end.parts && events.every(isPart) ? events : [])(all)
  }

  const find: StreamSnapshots['find'] = async (stream, format, upTo) => {
    const name = snapshotStream(stream)
    const last = await lastPartUpTo(name, upTo)
    if (E.isLeft(last)) return last
    const stored = await readParts(name, last.right)
    if (E.isLeft(stored)) return stored
    const opened = await openEach(keyring)(stored.right)
    if (E.isLeft(opened)) return opened
    const parts = opened.right.flatMap((event) => (E.isRight(event) ? [event.right.data as Part] : []))
    const texts = parts.map(({ sealed, plain }) => sealed ?? plain ?? ERASED)
    const [first] = parts
    if (first === undefined || parts.length < first.parts || texts.includes(ERASED)) return E.right(null)
    if (first.stream !== stream || first.version !== format.version) return E.right(null)
    const state = format.codec.decode(parseJson(texts.join('')))
    return E.right(E.isLeft(state) ? null : { ...first, state: state.right })
  }

  const write = async <State>(
    stream: string, { codec, version, keyOf, isKept }: SnapshotFormat<State>, saved: Saved<State>,
  ): Promise<void> => {
    const name = snapshotStream(stream)
    const { state, revision, eventId } = saved
    const key = keyOf(state)
    const texts = partsOf(JSON.stringify(codec.encode(state)))
    const common = { stream, revision, eventId, version, parts: texts.length, key, at: environment.now() }
    const { commandId: causationId, ...origin } = ownOrigin({ environment })
    const metadata = { ...origin, causationId, recordedAt: common.at }
    // Several processes may write snapshots of a stream. Only the parts of one snapshot must follow each other.
    let expected: ExpectedRevision = 'any'
    for (const [part, text] of texts.entries()) {
      const data = { ...common, part, sealed: key === null ? null : text, plain: key === null ? text : null }
      const sealed = await sealEvents(keyring, name)([{ type: StateSnapshotTaken.type, data }])
      // The key was erased: the state must not be stored again.
      if (E.isLeft(sealed)) return
      const events = sealed.right.map((event) => ({ ...event, id: environment.newId(), metadata }))
      const appended = await store.append(name, expected, events)
      if (E.isLeft(appended)) return logger.warn({ stream, reason: appended.left._tag }, 'a snapshot was not stored')
      expected = appended.right.revision
    }
    // Two snapshots, so that one is complete while the next one is written.
    if (!isKept) await store.setMetadata(name, { maxCount: 2 * texts.length })
  }

  return {
    find,
    save: (stream, format, saved) => {
      if (writing.has(stream)) return
      const written = write(stream, format, saved)
        .catch((error: unknown) => logger.error({ stream, err: error }, 'a snapshot was not stored'))
        .finally(() => writing.delete(stream))
      writing.set(stream, written)
    },
    idle: async () => {
      await Promise.all(writing.values())
    },
  }
}
