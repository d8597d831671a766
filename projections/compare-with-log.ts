import { type Change, type Document, type Documents, NO_CHECKPOINT } from '../application/ports/documents.ts'
import { BEGINNING, type EventStore, type Position } from '../application/ports/event-store.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { type Difference, differencesOf, foldLog, type ReadableCollection } from './fold-log.ts'
import { olderLogReason } from './older-log.ts'
import { modelOf, type Projection } from './projection.ts'

export interface ComparedWithLog {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'find' | 'scan'>
  /** Temporary documents, which are folded from the log for the comparison. */
  readonly scratch: Documents
}

const drain = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const found: Array<A> = []
  for await (const item of items) found.push(item)
  return found
}

/**
 * Finds documents of a projection that differ from the log. The projection may write at the same time. A document up to
 * the checkpoint must equal the fold of the log up to the checkpoint.
 *
 * A document may be ahead of the checkpoint, because some stores write the documents first. A removed document may also
 * have been ahead, but it has no position. Such documents are checked at the end of the log. For this, the rest of the
 * log is folded twice: into copies of the stored documents, as the next start would do, and into the documents that
 * were folded before. Both results must be equal.
 *
 * Throws when the log is an older copy.
 */
export const differencesFromLog = async (
  { store, documents, scratch }: ComparedWithLog,
  projection: Projection,
): Promise<ReadonlyArray<Difference>> => {
  const { signal } = new AbortController()
  const checkpoint = orThrow(await documents.checkpoint(modelOf(projection)))
  const reason = orThrow(await olderLogReason(store, checkpoint))
  if (reason !== null) throw new Error(`${reason} (checkpoint ${checkpoint.position})`)
  // The read model is new or was discarded. The next start builds it.
  if (checkpoint.position === BEGINNING) return []

  const { collection } = projection
  const actual: ReadableCollection = { documents, collection: collection.name }
  const expected: ReadableCollection = { documents: scratch, collection: collection.name }
  orThrow(await scratch.ensure([collection]))
  await foldLog({ store, documents: scratch }, projection, { from: NO_CHECKPOINT, to: checkpoint.position, signal })
  const found = await drain(differencesOf(actual, expected))
  /** Whether the difference may only mean that the stored document is ahead of the checkpoint. */
  const isUndecided = ({ kind, position }: Difference): boolean =>
    (position === null || position > checkpoint.position) && kind !== 'unreadable' && kind !== 'misguarded'
  const ids = new Set(found.filter(isUndecided).map(({ id }) => id))
  if (ids.size === 0) return found

  const documentsOf = async (side: ReadableCollection) =>
    orThrow(await side.documents.find(side.collection, [...ids]))
  const sides = [['actual', await documentsOf(actual)], ['expected', await documentsOf(expected)]] as const
  // Read the head last, so that it is at or after all positions read above.
  const head = orThrow(await store.head())
  const foldOn = async ([name, documentsById]: (typeof sides)[number]): Promise<ReadableCollection> => {
    const continued: Projection = {
      ...projection,
      name: `${projection.name}-${name}`,
      collection: { name: `${collection.name}-${name}`, indexes: [] },
      touches: (event) => projection.touches(event).filter((id) => ids.has(id)),
    }
    const put = ([id, document]: readonly [string, Document]): Change => {
      const position = String(document['position']) as Position
      return { kind: 'put', collection: continued.collection.name, id, document, position }
    }
    orThrow(await scratch.ensure([continued.collection]))
    orThrow(await scratch.commit(modelOf(continued), [...documentsById].map(put), checkpoint))
    await foldLog({ store, documents: scratch }, continued, { from: checkpoint, to: head, signal })
    return { documents: scratch, collection: continued.collection.name }
  }
  const remaining = await drain(differencesOf(await foldOn(sides[0]), await foldOn(sides[1])))
  return [...found.filter((difference) => !isUndecided(difference)), ...remaining]
}
