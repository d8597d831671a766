import type { Change, Checkpoint, Document, Documents, ScannedDocument } from '../application/ports/documents.ts'
import type { EventStore, Position, StoredEvent, StoreUnavailable } from '../application/ports/event-store.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { changesOf, type RecentDocuments, recentOf } from './apply.ts'
import { lastOf, modelOf, type Projection } from './projection.ts'

/** Maximum number of events that are folded and written together. With 2,000, a rebuild takes a sixth longer. */
export const BATCH_SIZE = 1000
/** An ended subscription is retried like an unavailable store. */
const ENDED: StoreUnavailable = { _tag: 'StoreUnavailable', reason: 'the subscription ended' }
const SCAN_SIZE = 500

export interface Folded {
  readonly events: number
  readonly reached: Checkpoint
}

interface Stores {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly documents: Pick<Documents, 'find' | 'commit'>
}

interface Range {
  readonly from: Checkpoint
  /** The last position to fold. It must not be after the end of the log. */
  readonly to: Position
  readonly signal: AbortSignal
  /** Maximum number of events in one step. Default: BATCH_SIZE. */
  readonly batchSize?: number
  readonly onStep?: (step: Folded) => void
}

/** Folds the log from `from` to `to` into a read model. Throws when a store is unavailable or the signal aborts. */
export const foldLog = async (
  { store, documents }: Stores,
  projection: Projection,
  { from, to, signal, batchSize = BATCH_SIZE, onStep }: Range,
): Promise<void> => {
  // A waiting subscription ends only by its signal, so it is aborted at the end and after errors.
  const ending = new AbortController()
  let done = false
  /** One batch is written while the next is read and folded. That fold needs the documents that are being written. */
  let writing: Promise<void> = Promise.resolve()
  let recent: RecentDocuments = new Map()
  const write = async (changes: ReadonlyArray<Change>, step: Folded): Promise<void> => {
    orThrow(await documents.commit(modelOf(projection), changes, step.reached))
    onStep?.(step)
  }
  let waiting: Array<StoredEvent> = []
  let { last } = from
  const step = async (position: Position): Promise<void> => {
    const events = waiting
    waiting = []
    last = lastOf(events, last)
    const reached = { position, last }
    const changes = orThrow(await changesOf(documents, projection, events, recent))
    await writing
    recent = recentOf(changes)
    writing = write(changes, { events: events.length, reached })
    // A failure is handled at the next await. Until then it must not count as an unhandled rejection.
    writing.catch(() => undefined)
    if (done) await writing
  }
  try {
    const stopping = AbortSignal.any([signal, ending.signal])
    for await (const message of store.subscribe(from.position, projection.prefixes, stopping)) {
      if (done) continue
      const position = message.kind === 'event' ? message.event.position : message.position
      if (message.kind === 'event' && position <= to) waiting.push(message.event)
      done = message.kind === 'caught-up' || position >= to
      if (!done && message.kind === 'event' && waiting.length < batchSize) continue
      await step(done ? to : position)
      if (done) ending.abort()
    }
    await writing
  } finally {
    ending.abort()
    // After an error the caller continues from the last reported step, so no report may come later.
    await writing.catch(() => undefined)
  }
  signal.throwIfAborted()
  if (!done) throw new Error('the subscription ended', { cause: ENDED })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** True when two JSON values are equal, ignoring the order of members. */
const isSame = (a: unknown, b: unknown): boolean => {
  if (!isObject(a) || !isObject(b)) return a === b
  const names = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  )
}

/** Ignores positions, because they depend on the batches in which a document was folded. */
const isSameDocument = (a: Document, b: Document): boolean => {
  const { position: _, ...left } = a
  const { position: __, ...right } = b
  return isSame(left, right)
}

export interface ReadableCollection {
  readonly documents: Pick<Documents, 'scan' | 'find'>
  readonly collection: string
}

/** Reads all documents of a collection in the order of their ids. */
interface Cursor {
  /** Null after the last document. */
  readonly current: () => ScannedDocument | null
  /** Goes to the next document. Returns a promise only when the next page must be read. */
  readonly advance: () => Promise<void> | null
}

/** Opens a cursor. It and `advance` reject when the documents cannot be read. */
const openCursor = async ({ documents, collection }: ReadableCollection): Promise<Cursor> => {
  let [page, index]: [ReadonlyArray<ScannedDocument>, number] = [[], 0]
  const load = async (after: string | null): Promise<void> => {
    page = orThrow(await documents.scan(collection, after, SCAN_SIZE))
    index = 0
  }
  await load(null)
  return {
    current: () => page[index] ?? null,
    advance: () => {
      index += 1
      return index < page.length || page.length < SCAN_SIZE ? null : load(page.at(-1)?.id ?? null)
    },
  }
}

/**
 * `differs`: the document has other contents. `missing`: a document should exist. `surplus`: no document should exist.
 * `unreadable`: the stored value is not a document. `misguarded`: the position in the document differs from the
 * position that the store keeps next to it, as a guard against older changes.
 */
export interface Difference {
  readonly id: string
  readonly kind: 'differs' | 'missing' | 'surplus' | 'unreadable' | 'misguarded'
  /** Position of the stored document. Null when none is stored. */
  readonly position: Position | null
}

const differenceOf = (
  id: string,
  actual: ScannedDocument | null,
  expected: ScannedDocument | null,
): ReadonlyArray<Difference> => {
  if (actual === null) return expected === null ? [] : [{ id, kind: 'missing', position: null }]
  const { position } = actual
  // Fast path: most documents have equal texts.
  const hasEqualText = actual.text !== undefined && actual.text === expected?.text
  if (hasEqualText && position === expected?.position) return []
  const [document, wanted] = [actual.document, expected?.document ?? null]
  if (document === null) return [{ id, kind: 'unreadable', position }]
  if (wanted === null) return [{ id, kind: 'surplus', position }]
  if (!isSameDocument(document, wanted)) return [{ id, kind: 'differs', position }]
  return position === document['position'] ? [] : [{ id, kind: 'misguarded', position }]
}

const withId = (document: ScannedDocument | null, id: string): ScannedDocument | null =>
  document?.id === id ? document : null

const smallerId = (a: ScannedDocument | null, b: ScannedDocument | null): string => {
  if (a === null || b === null) return a?.id ?? b?.id ?? ''
  return a.id < b.id ? a.id : b.id
}

/** Compares the documents of two collections. Both are read in the order of their ids (ASCII). */
export async function* differencesOf(
  actual: ReadableCollection,
  expected: ReadableCollection,
): AsyncGenerator<Difference, undefined> {
  const [left, right] = [await openCursor(actual), await openCursor(expected)]
  for (;;) {
    const [a, b] = [left.current(), right.current()]
    if (a === null && b === null) return undefined
    const id = smallerId(a, b)
    const [stored, wanted] = [withId(a, id), withId(b, id)]
    yield* differenceOf(id, stored, wanted)
    const advances = [stored === null ? null : left.advance(), wanted === null ? null : right.advance()]
    const pages = advances.filter((page) => page !== null)
    if (pages.length > 0) await Promise.all(pages)
  }
}

/** Returns the differences that still exist. Writes during the comparison can cause differences that disappear. */
export const remainingDifferences = async (
  found: ReadonlyArray<Difference>,
  actual: ReadableCollection,
  expected: ReadableCollection,
): Promise<ReadonlyArray<Difference>> => {
  const isCertain = ({ kind }: Difference): boolean => kind === 'unreadable' || kind === 'misguarded'
  const ids = found.filter((difference) => !isCertain(difference)).map(({ id }) => id)
  if (ids.length === 0) return found
  const [stored, wanted] = [
    orThrow(await actual.documents.find(actual.collection, ids)),
    orThrow(await expected.documents.find(expected.collection, ids)),
  ]
  return found.filter((difference) => {
    if (isCertain(difference)) return true
    const [a, b] = [stored.get(difference.id), wanted.get(difference.id)]
    return a === undefined || b === undefined ? a !== b : !isSameDocument(a, b)
  })
}
