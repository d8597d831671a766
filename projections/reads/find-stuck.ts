import type { Documents } from '../../application/ports/documents.ts'
import type { StoredEvent } from '../../application/ports/event-store.ts'
import type { StuckAt } from '../../application/ports/projector.ts'
import { lastOf } from '../projection.ts'
import type { List } from './list.ts'
import { commitSteps, type FailedStep, foldStep } from './steps.ts'

type StepDocuments = Pick<Documents, 'find' | 'commitAll'>

/** Applies one event, or only its change of the document `id`. Undefined: it succeeded. */
const tryEvent = async (
  documents: StepDocuments, list: List, event: StoredEvent, id: string | null = null,
): Promise<FailedStep | undefined> => {
  const { projection, applied } = list
  const tried = id === null ? list : { ...list, projection: { ...projection, touches: () => [id] } }
  const step = await foldStep(documents, tried, [event])
  const reached = id === null ? { position: event.position, last: lastOf([event], applied.last) } : applied
  const [failed] = await commitSteps(documents, [step], reached)
  return failed
}

/** The ids of the documents that the event changes. None: the projection fails before it knows them. */
const idsOf = ({ projection }: List, event: StoredEvent): ReadonlyArray<string> => {
  try {
    return projection.touches(event)
  } catch {
    return []
  }
}

const documentOf = async (documents: StepDocuments, list: List, event: StoredEvent): Promise<string | null> => {
  const ids = idsOf(list, event)
  for (const id of ids) if ((await tryEvent(documents, list, event, id)) !== undefined) return id
  return ids[0] ?? null
}

/** Where a list is stuck, and why. */
interface Stuck {
  readonly at: StuckAt
  readonly error: unknown
}

/** A slow store refuses a write now and then, so an event is the cause only if it fails this often. */
const CONFIRMATIONS = 3

/** Returns why an event fails repeatedly while the store takes an unchanged checkpoint. Undefined: it is not so. */
const confirmed = async (
  documents: StepDocuments, list: List, event: StoredEvent,
): Promise<FailedStep | undefined> => {
  let failed: FailedStep | undefined
  for (let attempt = 0; attempt < CONFIRMATIONS; attempt++) {
    const [refused] = await commitSteps(documents, [await foldStep(documents, list, [])], list.applied)
    if (refused !== undefined) return undefined
    failed = await tryEvent(documents, list, event)
    if (failed === undefined) return undefined
  }
  return failed
}

/**
 * Applies events one by one, up to the first one that fails, and returns where that is. Returns null when the event is
 * not the cause, because it succeeds later or the store refuses other writes of this list, too.
 */
export const findStuck = async (
  documents: StepDocuments, list: List, events: ReadonlyArray<StoredEvent>,
): Promise<Stuck | null> => {
  for (const event of events) {
    if ((await tryEvent(documents, list, event)) === undefined) continue
    const failed = await confirmed(documents, list, event)
    if (failed === undefined) return null
    const { stream, revision } = event
    return { at: { stream, revision, document: await documentOf(documents, list, event) }, error: failed.error }
  }
  return null
}
