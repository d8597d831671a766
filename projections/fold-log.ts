import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Document, Documents, ScannedDocument } from '../application/ports/documents.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import { changesOf } from './apply.ts'
import { inBatches } from './batches.ts'
import type { Batch } from './batches.ts'
import type { Projection } from './projection.ts'

const BATCH_SIZE = 2000
const SCAN_SIZE = 500

/** The value, or an Error that says why there is none: who folds a log has no use for half of it. */
export const orThrow = <A>(result: Either<unknown, A>): A => {
  if (E.isRight(result)) return result.right
  throw new Error(JSON.stringify(result.left), { cause: result.left })
}

export interface Folded {
  /** Events of this step. */
  readonly events: number
  readonly position: Position
}

interface Stretch {
  /** Exclusive. */
  readonly from: Position
  /** Inclusive; not past the end of the log. */
  readonly to: Position
  readonly signal: AbortSignal
  readonly onStep?: (step: Folded) => void
}

/** Brings a projection's read model, which stands at `from`, to `to`. Throws when a store goes away or the signal is given. */
export const foldLog = async (
  { store, documents }: { readonly store: Pick<EventStore, 'subscribe'>; readonly documents: Pick<Documents, 'get' | 'commit'> },
  projection: Projection,
  { from, to, signal, onStep }: Stretch,
): Promise<void> => {
  // A subscription that waits for more ends by its signal alone, also when it is left because of an error.
  const enough = new AbortController()
  let done = false
  const step = async (batch: Batch): Promise<void> => {
    const events = batch.events.filter(({ position }) => position <= to)
    done = batch.caughtUp || batch.position >= to
    const changes = orThrow(await changesOf(documents, projection, events))
    const position = done ? to : batch.position
    orThrow(await documents.commit(projection.name, changes, position)())
    onStep?.({ events: events.length, position })
  }
  for await (const batch of inBatches(store.subscribe(from, projection.prefixes, AbortSignal.any([signal, enough.signal])), BATCH_SIZE)) {
    if (done) continue
    try {
      await step(batch)
      if (done) enough.abort()
    } catch (error) {
      enough.abort()
      throw error
    }
  }
  signal.throwIfAborted()
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
  readonly documents: Pick<Documents, 'scan' | 'get'>
  readonly collection: string
}

/** All documents of a collection by their ids; throws when they cannot be read. */
async function* walk({ documents, collection }: ReadableCollection): AsyncGenerator<ScannedDocument, undefined> {
  let after: string | null = null
  for (;;) {
    const some: ReadonlyArray<ScannedDocument> = orThrow(await documents.scan(collection, after, SCAN_SIZE)())
    yield* some
    after = some.at(-1)?.id ?? null
    if (some.length < SCAN_SIZE) return undefined
  }
}

/**
 * `missing`: there is none where one should be; `surplus`: there should be none; `unreadable`: what is stored is no document;
 * `misguarded`: its guard is not the position of its last change, which it carries too.
 */
export interface Difference {
  readonly id: string
  readonly kind: 'differs' | 'missing' | 'surplus' | 'unreadable' | 'misguarded'
}

const differenceOf = (id: string, is: ScannedDocument | null, should: Document | null): ReadonlyArray<Difference> => {
  if (is === null) return should === null ? [] : [{ id, kind: 'missing' }]
  if (is.document === null) return [{ id, kind: 'unreadable' }]
  if (should === null) return [{ id, kind: 'surplus' }]
  if (!isSameDocument(is.document, should)) return [{ id, kind: 'differs' }]
  return is.position === is.document['position'] ? [] : [{ id, kind: 'misguarded' }]
}

const withId = (document: ScannedDocument | null, id: string): ScannedDocument | null => (document?.id === id ? document : null)

const lesser = (a: ScannedDocument | null, b: ScannedDocument | null): string => {
  if (a === null || b === null) return a?.id ?? b?.id ?? ''
  return a.id < b.id ? a.id : b.id
}

/** Where the documents of one collection are not those of another; both are read in the order of their ids (ASCII). */
export async function* differencesOf(is: ReadableCollection, should: ReadableCollection): AsyncGenerator<Difference, undefined> {
  const [left, right] = [walk(is), walk(should)]
  const next = async (side: AsyncGenerator<ScannedDocument, undefined>): Promise<ScannedDocument | null> => (await side.next()).value ?? null
  let [a, b] = [await next(left), await next(right)]
  while (a !== null || b !== null) {
    const id = lesser(a, b)
    const [mine, other]: [ScannedDocument | null, ScannedDocument | null] = [withId(a, id), withId(b, id)]
    yield* differenceOf(id, mine, other?.document ?? null)
    if (mine !== null) a = await next(left)
    if (other !== null) b = await next(right)
  }
  return undefined
}

/** Whether a difference is still there: what was written while the collections were read may have made it. */
export const isStillThere = async ({ id, kind }: Difference, is: ReadableCollection, should: ReadableCollection): Promise<boolean> => {
  if (kind === 'unreadable' || kind === 'misguarded') return true
  const a = O.toNullable(orThrow(await is.documents.get(is.collection, id)()))
  const b = O.toNullable(orThrow(await should.documents.get(should.collection, id)()))
  return a === null || b === null ? a !== b : !isSameDocument(a, b)
}
