import * as E from 'fp-ts/lib/Either.js'
import type { HeldLease, Leases } from '../application/ports/peers/leases.ts'
import type { Projector } from '../application/ports/projector.ts'
import { followProgress } from './progress/follow-progress.ts'
import { createProgress } from './progress/progress.ts'
import { tellProgress } from './progress/tell-progress.ts'
import { modelOf } from './projection.ts'
import type { Projection } from './projection.ts'
import { createRebuildRequests } from './rebuild/rebuild-requests.ts'
import { createRunner } from './runner.ts'
import type { Runner, RunnerDeps } from './runner.ts'

export interface ProjectorDeps extends Omit<RunnerDeps, 'prefixes' | 'token'> {
  readonly projections: ReadonlyArray<Projection>
  /** Null: this process runs none of them. */
  readonly leases: Pick<Leases, 'hold' | 'isAlone'> | null
  /** Stops all of it. */
  readonly signal: AbortSignal
}

/** Under which one process at a time runs a projection. */
export const leaseOf = ({ name }: Pick<Projection, 'name'>): string => `projection:${name}`

const given = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

/**
 * Keeps the read models up to date until the signal: runs each projection whose lease it has, on its own, so that one that
 * fails holds up no other, and follows those that other processes run. Who asks how far they are is answered alike.
 */
export const startProjector = (deps: ProjectorDeps): Projector => {
  const { documents, projections, leases, environment, timers, logger, signal } = deps
  const names = projections.map(({ name }) => name)
  // Each projection hears the streams of all: an event that others consume then moves this one too, at once, and
  // nobody who waits for that event depends on how often a store sends checkpoints.
  const prefixes = [...new Set(projections.flatMap((one) => one.prefixes))]
  const progress = createProgress(names, deps)
  const runners = new Map<string, Runner>()
  let finishes = false

  const isShared = leases?.isAlone !== true
  const requests = createRebuildRequests(deps)
  const teller = isShared && leases !== null ? tellProgress({ documents, progress, timers, logger, signal }) : null
  const beside = !isShared ? [] : [
    teller?.stopped,
    followProgress({ documents, models: projections.map(modelOf), progress, environment, timers, signal }),
    requests.serve(names, (name) => runners.get(name) ?? null),
  ]

  const runUnder = async (projection: Projection, held: HeldLease): Promise<void> => {
    const report = progress.reporter(projection.name)
    const holding = AbortSignal.any([signal, held.signal])
    const runner = createRunner({ ...deps, prefixes, token: held.token, signal: holding }, projection, report)
    runners.set(projection.name, runner)
    report.owned(true)
    const endTelling = teller?.begin(modelOf(projection), held.token)
    const finishing = finishes ? runner.finishRebuild() : Promise.resolve()
    try {
      await runner.run()
      await finishing
    } finally {
      endTelling?.()
      runners.delete(projection.name)
      report.owned(false)
    }
  }
  const holds = leases === null ? [] : projections.map((one) => leases.hold(leaseOf(one), (held) => runUnder(one, held)))
  const stopped = given(signal)
    .then(() => Promise.all([...holds.map(({ stop }) => stop()), ...beside]))
    .then(progress.close)

  const rebuild: Projector['rebuild'] = async (name, onProgress) => {
    if (!names.includes(name)) return E.left(`no projection is named ${name}; there are ${names.join(', ')}`)
    const runner = runners.get(name)
    if (runner === undefined) return await requests.ask(name, onProgress)
    const outcome = await runner.rebuild(onProgress)
    const isTakenOver = E.isLeft(outcome) && runner.isOver() && !signal.aborted
    return isTakenOver ? await requests.ask(name, onProgress) : outcome
  }
  const finishRebuilds = async (): Promise<void> => {
    finishes = true
    for (const { finishRebuild } of runners.values()) await finishRebuild()
  }
  const { whenProjected, caughtUp, lag, timeouts } = progress
  return { whenProjected, caughtUp, lag, timeouts, rebuild, finishRebuilds, stopped }
}
