import * as E from 'fp-ts/lib/Either.js'
import type { Documents, PublishedProgress, ReadModel } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Progress, Reporter } from './progress.ts'

/** Milliseconds between two reads while a caller waits for progress, and while no caller waits. */
const POLL_MS = { awaited: 50, idle: 1000 }
/** If no new beat (numbered update) arrives for this time, no process runs the projection. A takeover takes less. */
const SILENCE_TIMEOUT_MS = 10_000

/** The error of a projection that no process runs. */
export const NOT_RUNNING = 'no process runs this projection'
const FAILING_ELSEWHERE = 'the process that runs this projection reports an error'

interface FollowProgressDeps {
  readonly documents: Pick<Documents, 'publishedProgress'>
  readonly models: ReadonlyArray<ReadModel>
  readonly progress: Progress
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** State of a projection that another process runs. */
interface Followed {
  readonly reporter: Reporter
  beat: number | null
  /** When the last new beat was read, by the clock of this process. Before the first beat: the first read. */
  beatAt: number
  /** Number of new beats after the first one. */
  beats: number
  /** The error that was reported last. */
  error: string | null
}

const createFollowed = (reporter: Reporter, now: number): Followed =>
  ({ reporter, beat: null, beatAt: now, beats: 0, error: null })

const reportError = (followed: Followed, error: string | null): void => {
  if (followed.error === error) return
  followed.error = error
  if (error === null) followed.reporter.succeeding()
  else followed.reporter.failing(error)
}

/**
 * A projection is current when its process is at rest and has published two new beats after the first read. The first
 * of them may have been prepared before that read. Positions are not enough: the log may end with events that no
 * projection reads, so no position reaches the end.
 */
const report = (followed: Followed, published: PublishedProgress | null, now: number): void => {
  const { reporter } = followed
  if (published !== null && published.beat !== followed.beat) {
    followed.beats += followed.beat === null ? 0 : 1
    followed.beat = published.beat
    followed.beatAt = now
    reporter.reached(published.passed)
    reporter.rebuilding(published.isRebuilding)
    reporter.catchingUp(published.share ?? null)
    if (!published.isResting) reporter.working()
    else if (followed.beats >= 2) reporter.resting()
  }
  if (now - followed.beatAt >= SILENCE_TIMEOUT_MS) reportError(followed, NOT_RUNNING)
  else {
    reportError(followed, published?.isHeldUp === true ? FAILING_ELSEWHERE : null)
    reporter.stuck(published?.stuckAt ?? null)
  }
}

/**
 * Reports the progress of projections that other processes run. It polls the progress that they publish next to the
 * checkpoints, more often while a caller waits. Resolves after the signal has aborted.
 */
export const followProgress = async (deps: FollowProgressDeps): Promise<void> => {
  const { documents, models, progress, environment, timers, signal } = deps
  const followed = new Map<string, Followed>()
  let wake = (): void => undefined
  progress.onChange(() => wake())

  const foreign = (): ReadonlyArray<ReadModel> => {
    const own = new Set(progress.lag().flatMap(({ projection, isOwn }) => (isOwn ? [projection] : [])))
    // When another process runs the projection later, its beats are counted from zero.
    for (const projection of own) followed.delete(projection)
    return models.filter(({ projection }) => !own.has(projection))
  }
  const followedOf = ({ projection }: ReadModel): Followed => {
    const known = followed.get(projection) ?? createFollowed(progress.reporter(projection), environment.monotonic())
    followed.set(projection, known)
    return known
  }
  const poll = async (): Promise<void> => {
    const foreignModels = foreign()
    if (foreignModels.length === 0) return
    const published = await documents.publishedProgress(foreignModels)
    const stillForeign = new Set(foreign())
    for (const [index, model] of foreignModels.entries()) {
      if (!stillForeign.has(model)) continue
      const projection = followedOf(model)
      if (E.isRight(published)) report(projection, published.right[index] ?? null, environment.monotonic())
      else reportError(projection, published.left.reason)
    }
  }
  /** Waits for the next poll. A caller that begins to wait ends an idle pause at once. */
  const untilNextPoll = async (): Promise<void> => {
    await pause(timers, POLL_MS.awaited, signal)
    if (progress.isAwaited() || signal.aborted) return
    const woken = new AbortController()
    wake = () => { if (progress.isAwaited()) woken.abort() }
    await pause(timers, POLL_MS.idle - POLL_MS.awaited, AbortSignal.any([signal, woken.signal]))
    wake = () => undefined
  }
  while (!signal.aborted) {
    await poll()
    await untilNextPoll()
  }
}
