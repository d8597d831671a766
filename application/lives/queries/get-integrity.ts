import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { liveStream } from '../../../domain/live/events.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import { IN_PROGRESS_MS } from '../../audit/check-log.ts'
import type { Caller } from '../../caller.ts'
import { type LiveNotFound, liveNotFound, type Unavailable } from '../../refusals.ts'
import type { Environment } from '../../ports/environment.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { StreamIntegrity, VerifyStream } from '../../ports/integrity.ts'
import type { FactsOfLive, LiveFacts } from '../../ports/read-models.ts'
import { findLive } from '../owned-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'
import { readFinals, type ReadFinalsDeps } from './read-finals.ts'

/**
 * Shows whether the stored rows of a session and of its text, and their links to the neighbouring rows, are unchanged,
 * and whether the text is gone when it had to be forgotten. The check finds accidental damage and careless edits. It
 * does not find an edit whose author recomputed all hashes.
 */
export interface LiveIntegrity extends Omit<StreamIntegrity, 'damages'> {
  readonly status: 'intact' | 'damaged' | 'unavailable'
  /** The damage found. `id`: position in the history. 0 stands for the whole history, or for the text. */
  readonly damaged: ReadonlyArray<{ readonly id: number; readonly reason: string }>
  readonly checkedAt: string
}

export type GetIntegrity = (
  caller: Caller, liveId: number,
) => Promise<Either<LiveNotFound | Unavailable, LiveIntegrity>>

export interface IntegrityDeps extends ReadFinalsDeps {
  readonly store: Pick<EventStore, 'read' | 'now'>
  readonly verifyStream: VerifyStream
  readonly environment: Pick<Environment, 'now'>
  /** Milliseconds for which a session keeps its text after its end. 0: without limit. */
  readonly retentionMax: number
}

const UNAVAILABLE = { status: 'unavailable', rows: 0, first: null, last: null, headHash: null, damaged: [] } as const

type Damages = LiveIntegrity['damaged']

const damagesOfHistory = ({ damages }: StreamIntegrity): Damages =>
  damages.map(({ revision, reason }) => ({ id: revision === null ? 0 : revision + 1, reason }))

/** Events of the text are not in the history, so the reason names their place. */
const damagesOfText = (text: StreamIntegrity | null): Damages =>
  (text?.damages ?? []).map(({ revision, reason }) =>
    ({ id: 0, reason: revision === null ? `the text: ${reason}` : `entry ${revision + 1} of the text: ${reason}` }))

/** Number of events of the text that are read, to see whether it is readable. */
const SAMPLE_EVENTS = 100

/** Reports a text that is still readable although it had to be forgotten. A damaged history is reported elsewhere. */
const damagesOfPromise = ({ retentionMax, ...deps }: IntegrityDeps) => {
  const [find, read] = [findLive(deps.store), readFinals(deps)]
  return async (liveId: number): Promise<Damages> => {
    const live = await find(() => true, liveId)
    if (E.isLeft(live) || live.right.endStoredAt === null) return []
    const { created, endStoredAt } = live.right
    const keptMs = created.retention ? retentionMax || Infinity : READABLE_AFTER_END_MS
    if (deps.store.now() - endStoredAt < keptMs + IN_PROGRESS_MS) return []
    const text = await read(liveId, 0, SAMPLE_EVENTS)
    const isReadable = E.isRight(text) && text.right.finals.some(({ data }) => data !== null && data.text !== ERASED)
    return isReadable ? [{ id: 0, reason: 'the text is still readable although it had to be forgotten' }] : []
  }
}

/** Checks an existing session of any owner: its history and its text. */
export const checkIntegrity = (deps: IntegrityDeps) => {
  const { verifyStream, environment } = deps
  const promise = damagesOfPromise(deps)
  return async (liveId: number): Promise<Either<Unavailable, LiveIntegrity>> => {
    const history = await verifyStream(liveStream(liveId))
    if (E.isLeft(history)) return history
    const text = await verifyStream(segmentsStream(liveId))
    if (E.isLeft(text)) return text
    const overdue = await promise(liveId)
    const checkedAt = environment.now()
    if (history.right === null) return E.right({ ...UNAVAILABLE, checkedAt })
    const { rows, first, last, headHash } = history.right
    const damaged = [...damagesOfHistory(history.right), ...damagesOfText(text.right), ...overdue]
    const status = damaged.length === 0 ? 'intact' : 'damaged'
    return E.right({ status, rows, first, last, headHash, damaged, checkedAt })
  }
}

/** Takes the owner from the read model, because the stream itself may be damaged. */
export const getIntegrity = (deps: IntegrityDeps & { readonly factsOfLive: FactsOfLive }): GetIntegrity => {
  const check = checkIntegrity(deps)
  return async (caller, liveId) => {
    const facts = await deps.factsOfLive(liveId)
    if (E.isLeft(facts)) return facts
    const isOwner = O.exists(({ userId }: LiveFacts) => userId === caller.userId)(facts.right)
    return isOwner ? await check(liveId) : E.left(liveNotFound)
  }
}
