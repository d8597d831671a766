import * as E from 'fp-ts/lib/Either.js'
import type { HeldLease, Leases } from '../application/ports/leases.ts'
import type { Projector } from '../application/ports/projector.ts'
import { followProgress } from './progress/follow-progress.ts'
import { createProgress } from './progress/progress.ts'
import { publishProgress } from './progress/publish-progress.ts'
import { modelOf, type Projection } from './projection.ts'
import { createSharedReads } from './reads/shared-reads.ts'
import { createRebuildRequests } from './rebuild/rebuild-requests.ts'
import { createRunner, type Runner, type RunnerDeps } from './runner.ts'

export interface ProjectorDeps extends Omit<RunnerDeps, 'reads' | 'token'> {
  readonly projections: ReadonlyArray<Projection>
  /** Null: this process runs no projections. */
  readonly leases: Pick<Leases, 'hold' | 'isAlone'> | null
  /** Stops the projector. */
  readonly signal: AbortSignal
}

/** Name of the lease with which only one process at a time runs a projection. */
export const leaseOf = ({ name }: Pick<Projection, 'name'>): string => `projection:${name}`

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

/**
 * Keeps the read models up to date until the signal aborts. It runs the projections whose leases it holds. They share
 * one read of the log, which a failing projection leaves. It follows the progress of projections in other processes.
 */
export const startProjector = (deps: ProjectorDeps): Projector => {
  const { documents, projections, leases, environment, timers, logger, signal } = deps
  const names = projections.map(({ name }) => name)
  // Every projection reads the streams of all projections, so its position passes every event without delay. Otherwise
  // callers that wait for a position would depend on how often a store sends checkpoints.
  const prefixes = [...new Set(projections.flatMap((projection) => projection.prefixes))]
  const progress = createProgress(names, deps)
  const reads = createSharedReads({ ...deps, prefixes })
  const runners = new Map<string, Runner>()
  let finishesRebuilds = false

  const isShared = leases?.isAlone !== true
  const requests = createRebuildRequests(deps)
  const publisher =
    isShared && leases !== null ? publishProgress({ documents, progress, environment, timers, logger, signal }) : null
  const backgroundTasks = !isShared ? [] : [
    publisher?.stopped,
    followProgress({ documents, models: projections.map(modelOf), progress, environment, timers, signal }),
    requests.serve(names, (name) => runners.get(name) ?? null),
  ]

  const runUnder = async (projection: Projection, held: HeldLease): Promise<void> => {
    const report = progress.reporter(projection.name)
    const holding = AbortSignal.any([signal, held.signal])
    const runner = createRunner({ ...deps, reads, token: held.token, signal: holding }, projection, report)
    runners.set(projection.name, runner)
    report.owned(true)
    const endPublishing = publisher?.begin(modelOf(projection), held.token)
    const finishing = finishesRebuilds ? runner.finishRebuild() : Promise.resolve()
    try {
      await runner.run()
      await finishing
    } finally {
      endPublishing?.()
      runners.delete(projection.name)
      report.owned(false)
    }
  }
  const holds = leases === null ? [] : projections.map((projection) =>
    leases.hold(leaseOf(projection), (held) => runUnder(projection, held)))
  const stopped = aborted(signal)
    .then(() => Promise.all([...holds.map(({ stop }) => stop()), ...backgroundTasks]))
    .then(progress.close)

  const rebuild: Projector['rebuild'] = async (name, onProgress) => {
    if (!names.includes(name)) return E.left(`unknown projection ${name}. Use one of ${names.join(', ')}`)
    const runner = runners.get(name)
    if (runner === undefined) return await requests.request(name, onProgress)
    const outcome = await runner.rebuild(onProgress)
    const isTakenOver = E.isLeft(outcome) && runner.hasStopped() && !signal.aborted
    return isTakenOver ? await requests.request(name, onProgress) : outcome
  }
  const finishRebuilds = async (): Promise<void> => {
    finishesRebuilds = true
    for (const { finishRebuild } of runners.values()) await finishRebuild()
  }
  const { whenProjected, caughtUp, lag, timeouts } = progress
  return { whenProjected, caughtUp, lag, timeouts, rebuild, finishRebuilds, stopped }
}
