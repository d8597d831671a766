import * as E from 'fp-ts/lib/Either.js'
import type { Documents, ProgressUpdate, ReadModel } from '../../application/ports/documents.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { ProjectionLag } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { createOutage } from '../../application/outages.ts'
import { pause } from '../../application/waiting.ts'
import type { Progress } from './progress.ts'

const MIN_INTERVAL_MS = 50
/** Maximum time between two updates, which show other processes that the projection runs. */
const BEAT_MS = 500

interface PublishProgressDeps {
  readonly documents: Pick<Documents, 'publishProgress'>
  readonly progress: Pick<Progress, 'lag' | 'onChange'>
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly signal: AbortSignal
}

export interface ProgressPublisher {
  /** Begins to publish the progress of a projection, with the token of its lease. Returns a function that ends this. */
  readonly begin: (model: ReadModel, token: number) => () => void
  /** Resolves after the signal has aborted. */
  readonly stopped: Promise<void>
}

const isSameProgress = (a: ProjectionLag, b: ProjectionLag): boolean =>
  a.position === b.position && a.hasCaughtUp === b.hasCaughtUp && a.rebuilding === b.rebuilding
  && (a.secondsBehind === 0) === (b.secondsBehind === 0) && (a.error === null) === (b.error === null)
  && a.share === b.share && a.stuckAt === b.stuckAt

/**
 * Publishes the progress of the projections that this process runs, for other processes. Changes within
 * `MIN_INTERVAL_MS` share one write.
 */
export const publishProgress = (deps: PublishProgressDeps): ProgressPublisher => {
  const { documents, progress, timers, signal } = deps
  const published = new Map<string, { readonly model: ReadModel; readonly token: number }>()
  const last = new Map<string, ProjectionLag>()
  const outage = createOutage(
    deps, 'progress of the projections could not be published', 'progress of the projections is published again',
  )
  let beat = 0
  let wake = (): void => undefined

  const hasChanged = (): boolean =>
    progress.lag().some((lag) => {
      const before = last.get(lag.projection)
      return published.has(lag.projection) && (before === undefined || !isSameProgress(lag, before))
    })
  const publish = async (): Promise<void> => {
    beat += 1
    const updates = progress.lag().flatMap((lag): ReadonlyArray<ProgressUpdate> => {
      const running = published.get(lag.projection)
      if (running === undefined) return []
      last.set(lag.projection, lag)
      const { position: passed, hasCaughtUp, secondsBehind, error, rebuilding: isRebuilding, stuckAt, share } = lag
      const [isResting, isHeldUp] = [hasCaughtUp && secondsBehind === 0, error !== null]
      return [{ ...running, progress: { passed, beat, isResting, isHeldUp, isRebuilding, stuckAt, share } }]
    })
    if (updates.length === 0) return
    const written = await documents.publishProgress(updates)
    if (E.isLeft(written)) outage.failed(written.left.reason)
    else outage.ended()
  }
  const untilChanged = async (): Promise<void> => {
    if (hasChanged()) return
    const woken = new AbortController()
    wake = () => { if (hasChanged()) woken.abort() }
    await pause(timers, BEAT_MS, AbortSignal.any([signal, woken.signal]))
    wake = () => undefined
  }
  progress.onChange(() => wake())

  const publishAll = async (): Promise<void> => {
    while (!signal.aborted) {
      await publish()
      await pause(timers, MIN_INTERVAL_MS, signal)
      if (!signal.aborted) await untilChanged()
    }
  }
  return {
    begin: (model, token) => {
      const running = { model, token }
      published.set(model.projection, running)
      last.delete(model.projection)
      wake()
      return () => {
        if (published.get(model.projection) === running) published.delete(model.projection)
      }
    },
    stopped: publishAll(),
  }
}
