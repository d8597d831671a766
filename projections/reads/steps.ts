import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Change, Checkpoint, Documents } from '../../application/ports/documents.ts'
import type { StoredEvent } from '../../application/ports/event-store.ts'
import { changesOf, type RecentDocuments } from '../apply.ts'
import { modelOf } from '../projection.ts'
import type { List } from './list.ts'

/** The changes that a batch of events makes to one list. Left: why the events could not be folded. */
export interface Step {
  readonly list: List
  readonly events: ReadonlyArray<StoredEvent>
  readonly changes: Either<unknown, ReadonlyArray<Change>>
}

/** Folds events, except those that the list already contains. */
export const foldStep = async (
  documents: Pick<Documents, 'find'>,
  list: List,
  events: ReadonlyArray<StoredEvent>,
  recent?: RecentDocuments,
): Promise<Step> => {
  const { applied: { position: applied }, projection } = list
  const newEvents = events.filter(({ position }) => position > applied)
  try {
    return { list, events: newEvents, changes: await changesOf(documents, projection, newEvents, recent) }
  } catch (error) {
    return { list, events: newEvents, changes: E.left(error) }
  }
}

/** A step that could not be made. */
export interface FailedStep {
  readonly step: Step
  readonly error: unknown
}

/** Commits steps together, and moves each list that succeeded to `reached`. Returns the steps that failed. */
export const commitSteps = async (
  documents: Pick<Documents, 'commitAll'>,
  steps: ReadonlyArray<Step>,
  reached: Checkpoint,
): Promise<ReadonlyArray<FailedStep>> => {
  const folded = steps.flatMap((step) => (E.isRight(step.changes) ? [{ step, changes: step.changes.right }] : []))
  const outcomes = await documents.commitAll(folded.map(({ step: { list }, changes }) =>
    ({ whose: modelOf(list.projection), changes, checkpoint: reached, token: list.token })))
  const failed = new Map<Step, unknown>(steps.flatMap((step) =>
    (E.isLeft(step.changes) ? [[step, step.changes.left] as const] : [])))
  for (const [index, { step }] of folded.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined || E.isLeft(outcome)) failed.set(step, outcome?.left)
    else step.list.applied = reached
  }
  return [...failed].map(([step, error]) => ({ step, error }))
}
