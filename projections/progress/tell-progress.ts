import * as E from 'fp-ts/lib/Either.js'
import type { Documents, ReadModel, Telling } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { ProjectionLag } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Progress } from './progress.ts'

/** So often it is told how far a projection is, at most. */
const SOONEST_MS = 50
/** So often it is told that a projection is run, whether or not anything happened. */
const BEAT_MS = 500

interface TellProgressDeps {
  readonly documents: Pick<Documents, 'tell'>
  readonly progress: Pick<Progress, 'lag' | 'onNews'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn'>
  readonly signal: AbortSignal
}

export interface ProgressTeller {
  /** From now on this process runs the projection. Answers how to end that. */
  readonly begin: (model: ReadModel, token: number) => () => void
  /** Resolves after the signal. */
  readonly stopped: Promise<void>
}

const sameNews = (a: ProjectionLag, b: ProjectionLag): boolean =>
  a.position === b.position && a.hasCaughtUp === b.hasCaughtUp && a.rebuilding === b.rebuilding
  && (a.secondsBehind === 0) === (b.secondsBehind === 0) && (a.error === null) === (b.error === null)

/**
 * Tells the other processes how far the projections are that this one runs: of several changes at once what is true then,
 * in one write.
 */
export const tellProgress = ({ documents, progress, timers, logger, signal }: TellProgressDeps): ProgressTeller => {
  const run = new Map<string, { readonly model: ReadModel; readonly token: number }>()
  const last = new Map<string, ProjectionLag>()
  let [beat, wake, isFailing] = [0, (): void => undefined, false]

  const isNews = (): boolean =>
    progress.lag().some((lag) => {
      const before = last.get(lag.projection)
      return run.has(lag.projection) && (before === undefined || !sameNews(lag, before))
    })
  const tell = async (): Promise<void> => {
    beat += 1
    const tellings = progress.lag().flatMap((lag): ReadonlyArray<Telling> => {
      const running = run.get(lag.projection)
      if (running === undefined) return []
      last.set(lag.projection, lag)
      const { position: passed, hasCaughtUp, secondsBehind, error, rebuilding: isRebuilding } = lag
      const isResting = hasCaughtUp && secondsBehind === 0
      return [{ ...running, told: { passed, beat, isResting, isHeldUp: error !== null, isRebuilding } }]
    })
    if (tellings.length === 0) return
    const told = await documents.tell(tellings)()
    if (E.isLeft(told) && !isFailing) logger.warn({ reason: told.left.reason }, 'other processes cannot be told how far the projections are')
    isFailing = E.isLeft(told)
  }
  const news = async (): Promise<void> => {
    if (isNews()) return
    const woken = new AbortController()
    wake = () => { if (isNews()) woken.abort() }
    await pause(timers, BEAT_MS, AbortSignal.any([signal, woken.signal]))
    wake = () => undefined
  }
  progress.onNews(() => wake())

  const tellAll = async (): Promise<void> => {
    while (!signal.aborted) {
      await tell()
      await pause(timers, SOONEST_MS, signal)
      if (!signal.aborted) await news()
    }
  }
  return {
    begin: (model, token) => {
      const running = { model, token }
      run.set(model.projection, running)
      last.delete(model.projection)
      wake()
      return () => {
        if (run.get(model.projection) === running) run.delete(model.projection)
      }
    },
    stopped: tellAll(),
  }
}
