import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT } from '../application/ports/documents.ts'
import type { Documents } from '../application/ports/documents.ts'
import type { Environment, Logger } from '../application/ports/environment.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../application/ports/projector.ts'
import type { Timers } from '../application/ports/timers.ts'
import { createTurns } from '../application/turns.ts'
import { pause, retryDelay } from '../application/waiting.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { changesOf } from './apply.ts'
import { inBatches } from './batches.ts'
import type { Batch } from './batches.ts'
import { whyOlder } from './older-log.ts'
import type { Reporter } from './progress/progress.ts'
import { lastOf, modelOf } from './projection.ts'
import type { Projection } from './projection.ts'
import { findHalfBuilt } from './rebuild/half-built.ts'
import { rebuildReadModel } from './rebuild/rebuild.ts'

export interface RunnerDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Documents
  /** Streams that any projection hears. */
  readonly prefixes: ReadonlyArray<string>
  /** Names the code that folds: a rebuild that other code has begun is not gone on with. */
  readonly code: string
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic' | 'random'>
  readonly timers: Timers
  /** Of the lease under which it runs. */
  readonly token: number
  /** The lease is over, or the process is to stop. */
  readonly signal: AbortSignal
}

/** One projection for as long as this process has its lease. */
export interface Runner {
  /** Resolves after the signal. */
  readonly run: () => Promise<void>
  readonly rebuild: (onProgress: (progress: RebuildProgress) => void) => Promise<Either<string, Rebuilt>>
  /** Goes on with a rebuild that was left unfinished, if there is one. */
  readonly finishRebuild: () => Promise<void>
  /** The lease is over: what it still answers tells nothing of the read model. */
  readonly isOver: () => boolean
}

const BATCH_SIZE = 500
/**
 * Events, or milliseconds, without a change for this projection after which its checkpoint is written all the same: in
 * the hours of a live the log may say nothing but segments, which no projection hears, and a restart passes them again.
 */
const SAVED_EVERY = { events: 500, ms: 5000 }
/** Never long: the service says that it is ready only when all of them have the log again. */
const RETRY = { first: 20, longest: 1000 }

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return JSON.stringify(error)
  return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
}

export const createRunner = (deps: RunnerDeps, projection: Projection, report: Reporter): Runner => {
  const { store, documents, prefixes, code, logger, environment, timers, token, signal } = deps

  const failed = async (error: unknown, attempt: number): Promise<void> => {
    const reason = describe(error)
    report.failing(reason)
    logger.warn({ projection: projection.name, attempt, reason }, 'projection is held up and tries again')
    await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
  }

  /** Until it works: a projection that gave up would show old data for ever. Throws once the signal is given. */
  const persistently = async <A>(step: () => Promise<Either<unknown, A>>): Promise<A> => {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        const done = await step()
        if (E.isRight(done)) {
          // Who was deposed meanwhile has nothing to tell any more.
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

  /** Whoever writes the read model, this projection or its rebuild. */
  const turns = createTurns()
  const inTurn = <A>(task: () => Promise<A>): Promise<A> => turns(projection.name, task)
  let applied = NO_CHECKPOINT
  let [unsaved, savedAt] = [0, environment.monotonic()]
  const apply = async (batch: Batch): Promise<Either<unknown, void>> => {
    const changes = await changesOf(documents, projection, batch.events)
    if (E.isLeft(changes)) return changes
    const considered = unsaved + batch.events.length
    const reached = { position: batch.position, last: lastOf(batch.events, applied.last) }
    const isLate = environment.monotonic() - savedAt >= SAVED_EVERY.ms && reached.position !== applied.position
    if (changes.right.length === 0 && considered < SAVED_EVERY.events && !isLate) {
      unsaved = considered
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

  /** Throws where the log is an older copy: what it goes on to say would be folded onto what it does not know. */
  const requireSameLog = async (): Promise<void> => {
    const reason = orThrow(await whyOlder(store, applied)())
    if (reason !== null) throw new Error(`${reason}; put the newer one back, or rebuild the read model`)
  }

  const readCheckpoint = () => persistently(documents.checkpoint(modelOf(projection)))

  /**
   * Where the documents stand. Read anew each time: what a rebuild has put in their place stands elsewhere. Under a lease
   * our token comes first, so that who had it before moves nothing any more.
   */
  const findPlace = async (): Promise<void> => {
    applied = await readCheckpoint()
    if (token === 0) return
    await persistently(documents.commit(modelOf(projection), [], applied, token))
    applied = await readCheckpoint()
  }

  /** One subscription, from where the documents stand to its end; `passed` is told of every batch. */
  const consume = async (passed: () => void): Promise<void> => {
    await findPlace()
    unsaved = 0
    report.reached(applied.position)
    await requireSameLog()
    let hasCaughtUp = false
    for await (const batch of inBatches(store.subscribe(applied.position, prefixes, signal), BATCH_SIZE)) {
      report.working()
      await persistently(() => inTurn(() => apply(batch)))
      report.reached(batch.position)
      passed()
      hasCaughtUp ||= batch.caughtUp
      if (hasCaughtUp) report.resting()
    }
  }

  const follow = async (): Promise<void> => {
    await persistently(documents.ensure([projection.collection]))
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

  const rebuildOnce = async (tell: (progress: RebuildProgress) => void): Promise<Either<string, Rebuilt>> => {
    report.rebuilding(true)
    logger.info({ projection: projection.name }, 'the read model is being rebuilt')
    let held: string | null = null
    const onProgress = (progress: RebuildProgress): void => {
      if (progress.held !== null && progress.held !== held)
        logger.warn({ projection: projection.name, reason: progress.held }, 'the rebuild is held up and tries again')
      held = progress.held
      tell(progress)
    }
    const standing = async (): Promise<Position | null> => (report.error() === null ? applied.position : null)
    const rebuilt = await rebuildReadModel({ ...deps, projection, standing, exclusively: inTurn, onProgress })
    if (!signal.aborted) report.rebuilding(false)
    const about = { projection: projection.name }
    if (E.isRight(rebuilt)) logger.info({ ...rebuilt.right }, 'the read model was rebuilt')
    else if (signal.aborted) logger.info(about, 'the rebuild was broken off; the next start goes on with it')
    else logger.error({ ...about, reason: rebuilt.left }, 'the rebuild was given up; the old read model serves on')
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
        // Given up by the signal while it was retrying; anything else is a defect.
        if (!signal.aborted) throw error
      }
      await running
    },
    rebuild,
    finishRebuild: async () => {
      try {
        const found = await persistently(async () => E.right(await findHalfBuilt({ store, documents, projection, code })))
        if (found === 'unfinished') await rebuild(() => undefined)
        if (found === 'outdated')
          logger.warn({ projection: projection.name }, 'a rebuild that another version began is discarded: ask for it again')
      } catch (error) {
        // Stopped while it asked; anything else is a defect.
        if (!signal.aborted) throw error
      }
    },
    isOver: () => signal.aborted,
  }
}
