import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT } from '../application/ports/documents.ts'
import type { Documents } from '../application/ports/documents.ts'
import type { Environment, Logger } from '../application/ports/environment.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../application/ports/projector.ts'
import type { Timers } from '../application/ports/timers.ts'
import { createOutage } from '../application/outages.ts'
import { createTurns } from '../application/turns.ts'
import { pause, retryDelay } from '../application/waiting.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { changesOf } from './apply.ts'
import { inBatches } from './batches.ts'
import type { Batch } from './batches.ts'
import { olderLogReason } from './older-log.ts'
import type { Reporter } from './progress/progress.ts'
import { lastOf, modelOf } from './projection.ts'
import type { Projection } from './projection.ts'
import { findUnfinishedRebuild } from './rebuild/unfinished-rebuild.ts'
import { rebuildReadModel } from './rebuild/rebuild.ts'

export interface RunnerDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Documents
  /** Name prefixes of the streams that all projections subscribe to. */
  readonly prefixes: ReadonlyArray<string>
  /** Identifies the version of the code. A rebuild that another version began is not continued. */
  readonly code: string
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic' | 'random'>
  readonly timers: Timers
  /** Token of the lease. The documents refuse writes with an older token (fencing). */
  readonly token: number
  /** Aborts when the lease has ended or the process stops. */
  readonly signal: AbortSignal
}

/** Runs one projection while this process holds its lease. */
export interface Runner {
  /** Resolves after the signal has aborted. */
  readonly run: () => Promise<void>
  readonly rebuild: (onProgress: (progress: RebuildProgress) => void) => Promise<Either<string, Rebuilt>>
  /** Continues an unfinished rebuild, if there is one. */
  readonly finishRebuild: () => Promise<void>
  /** True after the lease has ended. Then failed results of this runner say nothing about the read model. */
  readonly hasStopped: () => boolean
}

const BATCH_SIZE = 500
/**
 * Writes the checkpoint after this many events or milliseconds even if no document changed. During a long session the
 * log may grow only by events without documents, and a restart would read them all again.
 */
const SAVED_EVERY = { events: 500, ms: 5000 }
/** Milliseconds. The waits are short, because the service is ready only when all projections work. */
const RETRY = { first: 20, longest: 1000 }

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return JSON.stringify(error)
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
}

export const createRunner = (deps: RunnerDeps, projection: Projection, report: Reporter): Runner => {
  const { store, documents, prefixes, code, logger, environment, timers, token, signal } = deps

  const about = { projection: projection.name }
  const outage = createOutage(deps, 'projection failed, retrying', 'projection works again')
  const failed = async (error: unknown, attempt: number): Promise<void> => {
    const reason = describe(error)
    report.failing(reason)
    outage.failed(reason, about)
    await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
  }

  /** Repeats a step until it succeeds, so the read model does not stay outdated. Throws when the signal aborts. */
  const untilSuccess = async <A>(step: () => Promise<Either<unknown, A>>): Promise<A> => {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        const done = await step()
        if (E.isRight(done)) {
          // After losing the lease this process must not report progress.
          signal.throwIfAborted()
          report.succeeding()
          return done.right
        }
        await failed(done.left, attempt)
      } catch (error) {
        if (signal.aborted) throw error
        await failed(error, attempt)
      }
    }
  }

  /** The projection and its rebuild write the read model in turn. */
  const turns = createTurns()
  const inTurn = <A>(task: () => Promise<A>): Promise<A> => turns(projection.name, task)
  let applied = NO_CHECKPOINT
  let [unsaved, savedAt] = [0, environment.monotonic()]
  const apply = async (batch: Batch): Promise<Either<unknown, void>> => {
    const changes = await changesOf(documents, projection, batch.events)
    if (E.isLeft(changes)) return changes
    const eventsToSave = unsaved + batch.events.length
    const reached = { position: batch.position, last: lastOf(batch.events, applied.last) }
    const isSaveDue = environment.monotonic() - savedAt >= SAVED_EVERY.ms && reached.position !== applied.position
    if (changes.right.length === 0 && eventsToSave < SAVED_EVERY.events && !isSaveDue) {
      unsaved = eventsToSave
      applied = reached
      return E.right(undefined)
    }
    const committed = await documents.commit(modelOf(projection), changes.right, reached, token)()
    if (E.isLeft(committed)) return committed
    unsaved = 0
    savedAt = environment.monotonic()
    applied = reached
    return committed
  }

  /** Throws when the log is an older copy, because its events would be folded into newer documents. */
  const requireSameLog = async (): Promise<void> => {
    const reason = orThrow(await olderLogReason(store, applied)())
    if (reason !== null) throw new Error(`${reason}; restore the newer log, or rebuild the read model`)
  }

  const readCheckpoint = () => untilSuccess(documents.checkpoint(modelOf(projection)))

  /**
   * Reads the checkpoint again for each subscription, because a rebuild may have moved it. Then commits it unchanged,
   * with the lease token of this process. Afterwards an earlier holder of the lease cannot write.
   */
  const claimCheckpoint = async (): Promise<void> => {
    applied = await readCheckpoint()
    if (token === 0) return
    await untilSuccess(documents.commit(modelOf(projection), [], applied, token))
    applied = await readCheckpoint()
  }

  /** Runs one subscription from the checkpoint to its end. Calls `onBatch` after every batch. */
  const consume = async (onBatch: () => void): Promise<void> => {
    await claimCheckpoint()
    unsaved = 0
    report.reached(applied.position)
    await requireSameLog()
    let hasCaughtUp = false
    for await (const batch of inBatches(store.subscribe(applied.position, prefixes, signal), BATCH_SIZE)) {
      report.working()
      await untilSuccess(() => inTurn(() => apply(batch)))
      report.reached(batch.position)
      outage.ended(about)
      onBatch()
      hasCaughtUp ||= batch.caughtUp
      if (hasCaughtUp) report.resting()
    }
  }

  const follow = async (): Promise<void> => {
    await untilSuccess(documents.ensure([projection.collection]))
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        await consume(() => {
          attempt = 0
        })
        if (!signal.aborted) await failed(new Error('the subscription ended'), attempt)
      } catch (error) {
        if (!signal.aborted) await failed(error, attempt)
      }
    }
  }

  const rebuildOnce = async (send: (progress: RebuildProgress) => void): Promise<Either<string, Rebuilt>> => {
    report.rebuilding(true)
    logger.info(about, 'rebuild started')
    let waitsFor: string | null = null
    const onProgress = (progress: RebuildProgress): void => {
      if (progress.held !== null && progress.held !== waitsFor)
        logger.warn({ ...about, reason: progress.held }, 'rebuild waits for a store')
      waitsFor = progress.held
      send(progress)
    }
    const positionInUse = async (): Promise<Position | null> => (report.error() === null ? applied.position : null)
    const rebuilt = await rebuildReadModel({ ...deps, projection, positionInUse, exclusively: inTurn, onProgress })
    if (!signal.aborted) report.rebuilding(false)
    if (E.isRight(rebuilt)) logger.info({ ...rebuilt.right }, 'rebuild finished')
    else if (signal.aborted) logger.info(about, 'rebuild interrupted; the next start continues it')
    else logger.error({ ...about, reason: rebuilt.left }, 'rebuild failed; the old read model stays in use')
    return rebuilt
  }

  let running: Promise<Either<string, Rebuilt>> | null = null
  const listeners = new Set<(progress: RebuildProgress) => void>()
  const rebuild: Runner['rebuild'] = async (onProgress) => {
    listeners.add(onProgress)
    running ??= rebuildOnce((progress) => listeners.forEach((listener) => listener(progress))).finally(() => {
      running = null
    })
    try {
      return await running
    } finally {
      listeners.delete(onProgress)
    }
  }

  return {
    run: async () => {
      try {
        await follow()
      } catch (error) {
        // The signal ends a retry by throwing. Any other error is a defect.
        if (!signal.aborted) throw error
      }
      await running
    },
    rebuild,
    finishRebuild: async () => {
      try {
        const find = async () => E.right(await findUnfinishedRebuild({ store, documents, projection, code }))
        const found = await untilSuccess(find)
        if (found === 'unfinished') await rebuild(() => undefined)
        if (found === 'outdated') {
          logger.warn(about, 'unfinished rebuild of another version discarded; start the rebuild again')
        }
      } catch (error) {
        // The signal ends a retry by throwing. Any other error is a defect.
        if (!signal.aborted) throw error
      }
    },
    hasStopped: () => signal.aborted,
  }
}
