import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type Documents, MOVED } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import {
  BEGINNING, type EventStore, type Position, type SubscriptionMessage,
} from '../../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { BATCH_SIZE, type Difference, differencesOf, type Folded, foldLog, remainingDifferences } from '../fold-log.ts'
import { discardStaged, isStaged, resumeOrBegin, stagedOf } from './unfinished-rebuild.ts'
import { OLDER_LOG_REMEDY, olderLogReason } from '../older-log.ts'
import { modelOf, type Projection } from '../projection.ts'
import { retryWhileUnavailable } from '../retry-while-unavailable.ts'
import { shareOf } from '../share-of.ts'
import { createRebuildNotes } from './rebuild-notes.ts'

/** Rounds of catching up with a growing log before writers must wait. */
const MAX_ROUNDS = 20
/** Minimum number of events in one step, for a slow store. */
const MIN_BATCH_SIZE = 50
/** Limit for differences that are compared again while writers wait. */
const MAX_SECOND_COMPARISONS = 1000

export interface RebuildDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Documents
  readonly projection: Projection
  /** Identifies the version of the code. A rebuild that another version began is not continued. */
  readonly code: string
  readonly environment: Pick<Environment, 'monotonic' | 'random'>
  readonly timers: Timers
  /** Position of the read model in use. Null while its projection fails and may make no progress. */
  readonly positionInUse: () => Promise<Position | null>
  /** Runs a function while the read model in use is not written. */
  readonly exclusively: <A>(run: () => Promise<A>) => Promise<A>
  /** Interrupts the rebuild. The next rebuild continues from there. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: RebuildProgress) => void
}

/** Throws on a damaged event, because the old read model may be the only place that still has its data. */
const undamagedLog = (store: RebuildDeps['store']): RebuildDeps['store'] => ({
  ...store,
  subscribe: async function* (...request): AsyncGenerator<SubscriptionMessage, void> {
    for await (const message of store.subscribe(...request)) {
      if (message.kind === 'damaged') {
        const { position, stream } = message
        throw new Error(`the event at position ${position} (${stream}) is damaged. Restore a backup first`)
      }
      yield message
    }
  },
})

const build = async (deps: RebuildDeps): Promise<Rebuilt> => {
  const { documents, projection, code, environment, signal, onProgress } = deps
  const store = undamagedLog(deps.store)
  const staged = stagedOf(projection)
  const since = environment.monotonic()
  let events = 0
  let share: number | null = null
  const report = (held: string | null): void => onProgress({ projection: projection.name, events, share, held })
  const retrying = retryWhileUnavailable({ ...deps, onWait: report })
  // With an older copy of the log, the list in use shows that a restore was not recorded.
  const older = await retrying(async () =>
    orThrow(await olderLogReason(store, orThrow(await documents.checkpoint(modelOf(projection))))))
  if (older !== null) throw new Error(`${older}. ${OLDER_LOG_REMEDY}`)
  const begun = await retrying(() => resumeOrBegin(deps))
  let { reached } = begun
  const resumed = reached.position !== BEGINNING

  const onStep = (step: Folded, to: Position): void => {
    events += step.events
    reached = step.reached
    share = shareOf(reached.position, to)
    report(null)
  }
  const advance = (to: Position): Promise<void> => {
    // The size is halved for each retry, in case the store is too slow for large steps.
    let next = BATCH_SIZE
    return retrying(async () => {
      if (to <= reached.position) return
      const batchSize = next
      next = Math.max(MIN_BATCH_SIZE, next / 2)
      const follow = (step: Folded): void => onStep(step, to)
      await foldLog({ store, documents }, staged, { from: reached, to, signal, batchSize, onStep: follow })
    }, () => reached.position)
  }
  /** Returns the position to reach, and whether the read model in use can be compared there. */
  const goal = (): Promise<readonly [Position, boolean]> =>
    retrying(async () => {
      const [inUse, head] = [await deps.positionInUse(), orThrow(await store.head())]
      return inUse === null || inUse > head ? [head, false] : [inUse, inUse >= reached.position]
    })
  const inUse = { documents, collection: projection.collection.name }
  const rebuilt = { documents, collection: staged.collection.name }

  const compare = async (): Promise<ReadonlyArray<Difference> | null> => {
    if (!(await goal())[1]) return null
    const scan: Documents['scan'] =
      (...page) => retrying(async () => E.right(orThrow(await documents.scan(...page))))
    const withRetries = (collection: typeof inUse) => ({ ...collection, documents: { ...documents, scan } })
    const found: Array<Difference> = []
    for await (const difference of differencesOf(withRetries(inUse), withRetries(rebuilt))) found.push(difference)
    return found
  }
  const compareAgain = async (found: ReadonlyArray<Difference>): Promise<number> => {
    if (found.length > MAX_SECOND_COMPARISONS) return found.length
    return (await retrying(() => remainingDifferences(found, inUse, rebuilt))).length
  }

  const promote = async (): Promise<void> => {
    const notes = createRebuildNotes(documents, projection)
    await retrying(() => notes.write({ code, state: 'promoting', place: begun.places[0] }))
    await retrying(async () => {
      const done = await documents.promote(modelOf(staged), modelOf(projection), begun.places)
      if (E.isRight(done)) return
      if (done.left.reason === MOVED.reason) throw new Error(MOVED.reason)
      // The call may still have succeeded: then the staged checkpoint is gone. It may also have succeeded in part. A
      // retry is safe only while the staged documents exist.
      const { position } = orThrow(await documents.checkpoint(modelOf(staged)))
      if (position === BEGINNING && reached.position !== BEGINNING) return
      if (await isStaged(deps)) orThrow(done)
      throw new Error(`the rebuilt documents could not replace the old ones: ${done.left.reason}`)
    })
    await retrying(() => notes.write({ code, state: 'ended', place: '' }))
  }

  // Each round folds the events that were appended during the round before.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const [to] = await goal()
    if (to <= reached.position) break
    await advance(to)
  }
  const suspects = await compare()
  const corrected = await deps.exclusively(async () => {
    const [to, isComparable] = await goal()
    await advance(to)
    const differing = suspects === null || !isComparable ? null : await compareAgain(suspects)
    // Folds to the end of the log, which may be after the position of the read model in use. Its runner then repeats
    // the later events without effect.
    await advance(await retrying(async () => orThrow(await store.head())))
    await promote()
    return differing
  })
  const seconds = (environment.monotonic() - since) / 1000
  return { projection: projection.name, events, resumed, corrected, position: reached.position, seconds }
}

/**
 * Rebuilds a read model next to the read model in use (blue/green). It folds the log into staged documents, compares
 * both, and replaces the read model in use. It continues an interrupted rebuild and waits while stores are unavailable.
 * Any other error ends it and leaves the read model in use unchanged. Left: the reason.
 */
export const rebuildReadModel = async (deps: RebuildDeps): Promise<Either<string, Rebuilt>> => {
  try {
    return E.right(await build(deps))
  } catch (error) {
    if (deps.signal.aborted) return E.left('the rebuild was interrupted. The next rebuild continues it')
    const reason = messageOf(error)
    // After MOVED the staged documents belong to another process. If the discard fails, the next rebuild discards or
    // continues them.
    if (reason !== MOVED.reason) await discardStaged(deps).catch(() => undefined)
    return E.left(reason)
  }
}
