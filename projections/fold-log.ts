import type { Change, Checkpoint, Document, Documents, ScannedDocument } from '../application/ports/documents.ts'
import type { EventStore, Position, StoredEvent, StoreUnavailable } from '../application/ports/event-store.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { changesOf } from './apply.ts'
import { lastOf, modelOf } from './projection.ts'
import type { Projection } from './projection.ts'

/** Events of one step, at most. */
export const BATCH_SIZE = 2000
/** As a store that went away says it. */
const ENDED: StoreUnavailable = { _tag: 'StoreUnavailable', reason: 'the subscription ended' }
const SCAN_SIZE = 500

export interface Folded {
  /** Events of this step. */
  readonly events: number
  readonly reached: Checkpoint
}

interface Stores {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly documents: Pick<Documents, 'find' | 'commit'>
}

interface Stretch {
  /** Exclusive. */
  readonly from: Checkpoint
  /** Inclusive; not past the end of the log. */
  readonly to: Position
  readonly signal: AbortSignal
  /** Events of one step, at most; BATCH_SIZE unless told. */
  readonly batchSize?: number
  readonly onStep?: (step: Folded) => void
}

/** Brings a projection's read model, which stands at `from`, to `to`. Throws when a store goes away or the signal is given. */
export const foldLog = async (
  { store, documents }: Stores,
  projection: Projection,
  { from, to, signal, batchSize = BATCH_SIZE, onStep }: Stretch,
): Promise<void> => {
  // A subscription that waits for more ends by its signal alone, also when it is left because of an error.
  const enough = new AbortController()
  let done = false
  /** Writes one batch while the next is read; what is folded next needs it. */
  let writing: Promise<void> = Promise.resolve()
  const write = async (changes: ReadonlyArray<Change>, step: Folded): Promise<void> => {
    orThrow(await documents.commit(modelOf(projection), changes, step.reached)())
    onStep?.(step)
  }
  let waiting: Array<StoredEvent> = []
  let { last } = from
  const step = async (position: Position): Promise<void> => {
    const events = waiting
    waiting = []
    last = lastOf(events, last)
    const reached = { position, last }
    await writing
    const changes = orThrow(await changesOf(documents, projection, events))
    writing = write(changes, { events: events.length, reached })
    // Whoever awaits it next hears of its failure; until then nobody may call it unhandled.
    writing.catch(() => undefined)
    if (done) await writing
  }
  try {
    for await (const message of store.subscribe(from.position, projection.prefixes, AbortSignal.any([signal, enough.signal]))) {
      if (done) continue
      const position = message.kind === 'event' ? message.event.position : message.position
      if (message.kind === 'event' && position <= to) waiting.push(message.event)
      done = message.kind === 'caught-up' || position >= to
      if (!done && message.kind === 'event' && waiting.length < batchSize) continue
      await step(done ? to : position)
      if (done) enough.abort()
    }
    await writing
  } finally {
    enough.abort()
    // Whoever goes on after an error does so from the last step that it was told of: none may come later.
    await writing.catch(() => undefined)
  }
  signal.throwIfAborted()
  if (!done) throw new Error('the subscription ended', { cause: ENDED })
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** Whether two JSON values are the same, whatever the order of members. */
const isSame = (a: unknown, b: unknown): boolean => {
  if (!isObject(a) || !isObject(b)) return a === b
  const names = Object.keys(a)
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  )
}

/** Positions aside: they tell in which batches a document was made. */
const isSameDocument = (a: Document, b: Document): boolean => {
  const { position: _, ...left } = a
  const { position: __, ...right } = b
  return isSame(left, right)
}

export interface ReadableCollection {
  readonly documents: Pick<Documents, 'scan' | 'find'>
  readonly collection: string
}

/** Goes through all documents of a collection by their ids. */
interface Cursor {
  /** Null behind the last one. */
  readonly current: () => ScannedDocument | null
  /** To the next; a promise only where that must be read, for most are there already. */
  readonly advance: () => Promise<void> | null
}

/** Rejects, as its `advance`, when the documents cannot be read. */
const openCursor = async ({ documents, collection }: ReadableCollection): Promise<Cursor> => {
  let [page, at]: [ReadonlyArray<ScannedDocument>, number] = [[], 0]
  const load = async (after: string | null): Promise<void> => {
    page = orThrow(await documents.scan(collection, after, SCAN_SIZE)())
    at = 0
  }
  await load(null)
  return {
    current: () => page[at] ?? null,
    advance: () => {
      at += 1
      return at < page.length || page.length < SCAN_SIZE ? null : load(page.at(-1)?.id ?? null)
    },
  }
}

/**
 * `missing`: there is none where one should be; `surplus`: there should be none; `unreadable`: what is stored is no document;
 * `misguarded`: its guard is not the position of its last change, which it carries too.
 */
export interface Difference {
  readonly id: string
  readonly kind: 'differs' | 'missing' | 'surplus' | 'unreadable' | 'misguarded'
  /** Of the stored document; null where there is none. */
  readonly position: Position | null
}

const differenceOf = (id: string, is: ScannedDocument | null, should: ScannedDocument | null): ReadonlyArray<Difference> => {
  if (is === null) return should === null ? [] : [{ id, kind: 'missing', position: null }]
  const { position } = is
  // Most are the same to the letter: no need to take them apart.
  if (should !== null && is.text !== undefined && is.text === should.text && position === should.position) return []
  const [document, wanted] = [is.document, should?.document ?? null]
  if (document === null) return [{ id, kind: 'unreadable', position }]
  if (wanted === null) return [{ id, kind: 'surplus', position }]
  if (!isSameDocument(document, wanted)) return [{ id, kind: 'differs', position }]
  return position === document['position'] ? [] : [{ id, kind: 'misguarded', position }]
}

const withId = (document: ScannedDocument | null, id: string): ScannedDocument | null => (document?.id === id ? document : null)

const lesser = (a: ScannedDocument | null, b: ScannedDocument | null): string => {
  if (a === null || b === null) return a?.id ?? b?.id ?? ''
  return a.id < b.id ? a.id : b.id
}

/** Where the documents of one collection are not those of another; both are read in the order of their ids (ASCII). */
export async function* differencesOf(is: ReadableCollection, should: ReadableCollection): AsyncGenerator<Difference, undefined> {
  const [left, right] = [await openCursor(is), await openCursor(should)]
  for (;;) {
    const [a, b] = [left.current(), right.current()]
    if (a === null && b === null) return undefined
    const id = lesser(a, b)
    const [mine, other] = [withId(a, id), withId(b, id)]
    yield* differenceOf(id, mine, other)
    const reading = [mine === null ? null : left.advance(), other === null ? null : right.advance()].filter((page) => page !== null)
    if (reading.length > 0) await Promise.all(reading)
  }
}

/** Those of the differences that are still there: writes during the comparison may have made the others. */
export const stillThere = async (
  found: ReadonlyArray<Difference>,
  is: ReadableCollection,
  should: ReadableCollection,
): Promise<ReadonlyArray<Difference>> => {
  const isCertain = ({ kind }: Difference): boolean => kind === 'unreadable' || kind === 'misguarded'
  const ids = found.filter((difference) => !isCertain(difference)).map(({ id }) => id)
  if (ids.length === 0) return found
  const [stored, wanted] = [
    orThrow(await is.documents.find(is.collection, ids)()),
    orThrow(await should.documents.find(should.collection, ids)()),
  ]
  return found.filter((difference) => {
    if (isCertain(difference)) return true
    const [a, b] = [stored.get(difference.id), wanted.get(difference.id)]
    return a === undefined || b === undefined ? a !== b : !isSameDocument(a, b)
  })
}
