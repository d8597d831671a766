import { type Checkpoint, type Documents, NO_CHECKPOINT, type ReadModel } from '../../application/ports/documents.ts'
import { BEGINNING, type EventStore } from '../../application/ports/event-store.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { modelOf, type Projection } from '../projection.ts'
import { olderLogReason } from '../older-log.ts'
import { createRebuildNotes } from './rebuild-notes.ts'

/** Returns the projection with a separate (staged) collection, which replaces the collection in use when complete. */
export const stagedOf = (projection: Projection): Projection => {
  const name = `${projection.name}-staged`
  return { ...projection, name, collection: { ...projection.collection, name: `${projection.collection.name}-staged` } }
}

/** The collection in which version 0.1.0 rebuilt. Its unfinished rebuilds cannot be continued. */
const firstVersionOf = ({ name, collection }: Projection): ReadModel => ({
  projection: `${name}-rebuild`,
  collection: `${collection.name}-rebuild`,
})

export interface RebuildStores {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Documents
  readonly projection: Projection
  /** Identifies the version of the code. A rebuild that another version began is not continued. */
  readonly code: string
}

/** Discards an unfinished rebuild. Rejects when the documents are unavailable. */
export const discardStaged = async ({ documents, projection, code }: Omit<RebuildStores, 'store'>): Promise<void> => {
  await createRebuildNotes(documents, projection).write({ code, state: 'ended', place: '' })
  orThrow(await documents.discard(modelOf(stagedOf(projection))))
}

/** Whether staged documents exist, which have not replaced the documents in use. */
export const isStaged = async (stores: Pick<RebuildStores, 'documents' | 'projection'>): Promise<boolean> => {
  const { documents, projection } = stores
  const staged = stagedOf(projection)
  if (orThrow(await documents.checkpoint(modelOf(staged))).position === BEGINNING) return false
  orThrow(await documents.ensure([staged.collection]))
  return orThrow(await documents.scan(staged.collection.name, null, 1)).length > 0
}

/** The start of a rebuild. */
interface Begun {
  readonly reached: Checkpoint
  /** The store's names of the collections with the staged documents and with the documents in use. */
  readonly places: readonly [staged: string, inUse: string]
}

const placesOf = async ({ documents, projection }: RebuildStores): Promise<Begun['places']> => {
  const specs = [stagedOf(projection).collection, projection.collection]
  const [staged, inUse] = orThrow(await documents.ensure(specs))
  if (staged === undefined || inUse === undefined) throw new Error('the document store returned no places')
  return [staged, inUse]
}

/**
 * Resumes an interrupted rebuild if the same version of the code began it and the log still contains its events.
 * Otherwise it discards all unfinished rebuilds and begins at the start of the log.
 */
export const resumeOrBegin = async (stores: RebuildStores): Promise<Begun> => {
  const { store, documents, projection, code } = stores
  const staged = stagedOf(projection)
  const notes = createRebuildNotes(documents, projection)
  const before = await placesOf(stores)
  const note = await notes.read()
  const isOurs = note !== null && note.state !== 'ended' && note.code === code && note.place === before[0]
  if (isOurs && (await isStaged(stores))) {
    const reached = orThrow(await documents.checkpoint(modelOf(staged)))
    if (orThrow(await olderLogReason(store, reached)) === null) return { reached, places: before }
  }
  orThrow(await documents.discard(firstVersionOf(projection)))
  orThrow(await documents.discard(modelOf(staged)))
  const places = await placesOf(stores)
  await notes.write({ code, state: 'building', place: places[0] })
  return { reached: NO_CHECKPOINT, places }
}

/**
 * Finds an unfinished rebuild of an earlier process. `unfinished`: the caller continues it. `outdated`: another version
 * of the code began it, and it was discarded.
 */
export const findUnfinishedRebuild = async (stores: RebuildStores): Promise<'unfinished' | 'outdated' | 'none'> => {
  const { documents, projection, code } = stores
  const firstVersion = firstVersionOf(projection)
  if (orThrow(await documents.checkpoint(firstVersion)).position !== BEGINNING) {
    orThrow(await documents.discard(firstVersion))
    return 'outdated'
  }
  const notes = createRebuildNotes(documents, projection)
  const note = await notes.read()
  if (note === null || note.state === 'ended') return 'none'
  if (note.code !== code) {
    await discardStaged(stores)
    return 'outdated'
  }
  if (note.state === 'building' || (await isStaged(stores))) return 'unfinished'
  await notes.write({ code, state: 'ended', place: '' })
  return 'none'
}
