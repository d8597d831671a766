import { NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { Checkpoint, Documents, ReadModel } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { modelOf } from '../projection.ts'
import type { Projection } from '../projection.ts'
import { whyOlder } from '../older-log.ts'
import { createRebuildNotes } from './rebuild-notes.ts'

/** The same projection into documents of its own, which take the place of those in use once they are complete. */
export const stagedOf = (projection: Projection): Projection => {
  const name = `${projection.name}-staged`
  return { ...projection, name, collection: { ...projection.collection, name: `${projection.collection.name}-staged` } }
}

/** Where version 0.1.0 built, which could go on with nothing that it left behind. */
const unnotedOf = ({ name, collection }: Projection): ReadModel => ({
  projection: `${name}-rebuild`,
  collection: `${collection.name}-rebuild`,
})

export interface HalfBuilt {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Documents
  readonly projection: Projection
  /** Names the code that folds: what other code has begun is not gone on with. */
  readonly code: string
}

/** Forgets what is built of a read model. Rejects when the documents cannot be reached. */
export const discardStaged = async ({ documents, projection, code }: Omit<HalfBuilt, 'store'>): Promise<void> => {
  await createRebuildNotes(documents, projection).write({ code, state: 'ended', place: '' })
  orThrow(await documents.discard(modelOf(stagedOf(projection)))())
}

/** Whether documents were built and not yet put in their place: a name that was given away leads to nothing. */
export const isStaged = async (half: Pick<HalfBuilt, 'documents' | 'projection'>): Promise<boolean> => {
  const { documents, projection } = half
  const staged = stagedOf(projection)
  if (orThrow(await documents.checkpoint(modelOf(staged))()).position === BEGINNING) return false
  orThrow(await documents.ensure([staged.collection])())
  return orThrow(await documents.scan(staged.collection.name, null, 1)()).length > 0
}

/** Where a rebuild begins. */
interface Begun {
  readonly reached: Checkpoint
  /** Where the documents that are built, and those in use, lay then: the former may take the place of nothing else. */
  readonly places: readonly [staged: string, inUse: string]
}

const placesOf = async ({ documents, projection }: HalfBuilt): Promise<Begun['places']> => {
  const specs = [stagedOf(projection).collection, projection.collection]
  const [staged, inUse] = orThrow(await documents.ensure(specs)())
  if (staged === undefined || inUse === undefined) throw new Error('the documents do not tell where they lie')
  return [staged, inUse]
}

/**
 * Where a rebuild begins: behind what an interrupted one has built, where the same code did that and the log still
 * holds it; else at the beginning, with all that others have left behind discarded.
 */
export const resumeOrBegin = async (half: HalfBuilt): Promise<Begun> => {
  const { store, documents, projection, code } = half
  const staged = stagedOf(projection)
  const notes = createRebuildNotes(documents, projection)
  const before = await placesOf(half)
  const note = await notes.read()
  const isOurs = note !== null && note.state !== 'ended' && note.code === code && note.place === before[0]
  if (isOurs && (await isStaged(half))) {
    const reached = orThrow(await documents.checkpoint(modelOf(staged))())
    if (orThrow(await whyOlder(store, reached)()) === null) return { reached, places: before }
  }
  orThrow(await documents.discard(unnotedOf(projection))())
  orThrow(await documents.discard(modelOf(staged))())
  const places = await placesOf(half)
  await notes.write({ code, state: 'building', place: places[0] })
  return { reached: NO_CHECKPOINT, places }
}

/**
 * What a process that starts finds of rebuilds before it: `unfinished` is to be gone on with; `outdated` was begun by
 * other code and is discarded; `none`.
 */
export const findHalfBuilt = async (half: HalfBuilt): Promise<'unfinished' | 'outdated' | 'none'> => {
  const { documents, projection, code } = half
  const unnoted = unnotedOf(projection)
  if (orThrow(await documents.checkpoint(unnoted)()).position !== BEGINNING) {
    orThrow(await documents.discard(unnoted)())
    return 'outdated'
  }
  const notes = createRebuildNotes(documents, projection)
  const note = await notes.read()
  if (note === null || note.state === 'ended') return 'none'
  if (note.code !== code) {
    await discardStaged(half)
    return 'outdated'
  }
  if (note.state === 'building' || (await isStaged(half))) return 'unfinished'
  await notes.write({ code, state: 'ended', place: '' })
  return 'none'
}
