import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type Documents, NO_CHECKPOINT } from '../application/ports/documents.ts'
import type { Environment, Logger } from '../application/ports/environment.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../application/ports/projector.ts'
import type { Timers } from '../application/ports/timers.ts'
import { createOutage } from '../application/outages.ts'
import { pause, retryDelay } from '../application/waiting.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { requireSameLog } from './older-log.ts'
import type { Reporter } from './progress/progress.ts'
import { modelOf, type Projection } from './projection.ts'
import { describe, type List, reportFailure, reportSuccess } from './reads/list.ts'
import type { Membership, Reads } from './reads/shared-reads.ts'
import { findUnfinishedRebuild } from './rebuild/unfinished-rebuild.ts'
import { rebuildReadModel } from './rebuild/rebuild.ts'

export interface RunnerDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Documents
  /** The reads of the log, which this projection shares with others. */
  readonly reads: Reads
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

/** Milliseconds. The waits are short, because the service is ready only when all projections work. */
const RETRY = { first: 20, longest: 1000 }

export const createRunner = (deps: RunnerDeps, projection: Projection, report: Reporter): Runner => {
  const { store, documents, reads, code, logger, environment, timers, token, signal } = deps
  const about = { projection: projection.name }
  const outage = createOutage(deps, 'projection failed, retrying', 'projection works again')
  const search = createOutage(deps, 'the search for rebuilds failed, retrying', 'the search for rebuilds works again')
  const list: List = { projection, token, report, outage, applied: NO_CHECKPOINT }
  const whose = modelOf(projection)

  /** Repeats a step until it succeeds, so the read model does not stay outdated. Throws when the signal aborts. */
  const untilSuccess = async <A>(
    step: () => Promise<A>, until: AbortSignal, onFailure: (error: unknown) => void,
  ): Promise<A> => {
    for (let attempt = 0; ; attempt++) {
      until.throwIfAborted()
      try {
        const done = await step()
        // After losing the lease this process must not report progress.
        until.throwIfAborted()
        return done
      } catch (error) {
        if (until.aborted) throw error
        onFailure(error)
        await pause(timers, retryDelay(RETRY, attempt, environment.random()), until)
      }
    }
  }

  /**
   * Reads the checkpoint, and commits it unchanged with the lease token of this process. Afterwards an earlier holder
   * of the lease cannot write. It may have moved the checkpoint before, and a rebuild may have moved it, too.
   */
  const claim = async (): Promise<void> => {
    orThrow(await documents.ensure([projection.collection]))
    const stored = async () => orThrow(await documents.checkpoint(whose))
    let claimed = await stored()
    if (token !== 0) {
      orThrow(await documents.commit(whose, [], claimed, token))
      claimed = await stored()
    }
    await requireSameLog(store, claimed)
    list.applied = claimed
    report.reached(claimed.position)
  }

  let membership: Membership | null = null
  /** The last work that needed the read model for itself. */
  let exclusive: Promise<unknown> = Promise.resolve()
  /** Runs a task while no read writes the read model. */
  const exclusively = async <A>(task: () => Promise<A>): Promise<A> => {
    const work = exclusive.then(() => membership?.leave()).then(task)
    exclusive = work.catch(() => undefined)
    return await work
  }

  const follow = async (): Promise<void> => {
    const stop = (): void => void membership?.leave()
    signal.addEventListener('abort', stop, { once: true })
    while (!signal.aborted) {
      await exclusive
      if (signal.aborted) return
      membership = reads.join(list, async (leaving) => {
        await untilSuccess(claim, AbortSignal.any([signal, leaving]), (error) => reportFailure(list, error))
        reportSuccess(list)
      })
      await membership.left
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
    const positionInUse = async (): Promise<Position | null> =>
      report.error() === null ? list.applied.position : null
    const rebuilt = await rebuildReadModel({ ...deps, projection, positionInUse, exclusively, onProgress })
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
        const find = () => findUnfinishedRebuild({ store, documents, projection, code })
        // The notes of rebuilds say nothing about the list: its writes may fail although the notes can be read.
        const found = await untilSuccess(find, signal, (error) => search.failed(describe(error), about))
        search.ended(about)
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
