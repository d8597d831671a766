import { NO_CHECKPOINT } from '../application/ports/documents.ts'
import type { Change, Document, Documents } from '../application/ports/documents.ts'
import { BEGINNING } from '../application/ports/event-store.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { differencesOf, foldLog } from './fold-log.ts'
import type { Difference, ReadableCollection } from './fold-log.ts'
import { whyOlder } from './older-log.ts'
import { modelOf } from './projection.ts'
import type { Projection } from './projection.ts'

export interface ComparedWithLog {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'find' | 'scan'>
  /** Keeps what the log says meanwhile. */
  readonly scratch: Documents
}

const drain = async <A>(all: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const one of all) found.push(one)
  return found
}

/**
 * Where the documents of a projection are not what the log says, also while they are being written. One that stands no
 * further than the checkpoint must be the fold of the log up to there. Where a store writes documents before their
 * checkpoint, others are ahead of it, for as long as it takes to write it, or after a death in between until it moves
 * again; one that was removed no longer says so. Such documents are right when the fold from the checkpoint on, which
 * the next start makes, ends where the fold of the whole log does. Throws when the log is an older copy.
 */
export const differencesFromLog = async (
  { store, documents, scratch }: ComparedWithLog,
  projection: Projection,
): Promise<ReadonlyArray<Difference>> => {
  const { signal } = new AbortController()
  const checkpoint = orThrow(await documents.checkpoint(modelOf(projection))())
  const reason = orThrow(await whyOlder(store, checkpoint)())
  if (reason !== null) throw new Error(`${reason} (checkpoint ${checkpoint.position})`)
  // The next start makes it: this version is the first to have it, or it was discarded.
  if (checkpoint.position === BEGINNING) return []

  const { collection } = projection
  const is: ReadableCollection = { documents, collection: collection.name }
  const should: ReadableCollection = { documents: scratch, collection: collection.name }
  orThrow(await scratch.ensure([collection])())
  await foldLog({ store, documents: scratch }, projection, { from: NO_CHECKPOINT, to: checkpoint.position, signal })
  const found = await drain(differencesOf(is, should))
  const isOpen = ({ kind, position }: Difference): boolean =>
    (position === null || position > checkpoint.position) && kind !== 'unreadable' && kind !== 'misguarded'
  const ids = new Set(found.filter(isOpen).map(({ id }) => id))
  if (ids.size === 0) return found

  const documentsOf = async ({ documents: its, collection: name }: ReadableCollection) =>
    orThrow(await its.find(name, [...ids])())
  const sides = [['is', await documentsOf(is)], ['should', await documentsOf(should)]] as const
  // Asked for last: it lies behind all that was read.
  const head = orThrow(await store.head()())
  const foldedOn = async ([name, its]: (typeof sides)[number]): Promise<ReadableCollection> => {
    const on: Projection = {
      ...projection,
      name: `${projection.name}-${name}`,
      collection: { name: `${collection.name}-${name}`, indexes: [] },
      touches: (event) => projection.touches(event).filter((id) => ids.has(id)),
    }
    const put = ([id, document]: readonly [string, Document]): Change => {
      const position = String(document['position']) as Position
      return { kind: 'put', collection: on.collection.name, id, document, position }
    }
    orThrow(await scratch.ensure([on.collection])())
    orThrow(await scratch.commit(modelOf(on), [...its].map(put), checkpoint)())
    await foldLog({ store, documents: scratch }, on, { from: checkpoint, to: head, signal })
    return { documents: scratch, collection: on.collection.name }
  }
  const left = await drain(differencesOf(await foldedOn(sides[0]), await foldedOn(sides[1])))
  return [...found.filter((difference) => !isOpen(difference)), ...left]
}
