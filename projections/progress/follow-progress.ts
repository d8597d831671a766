import * as E from 'fp-ts/lib/Either.js'
import type { Documents, ReadModel, Told } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { Progress, Reporter } from './progress.ts'

/** Between two looks while somebody waits, and while nobody does. */
const LOOK_MS = { awaited: 50, idle: 1000 }
/** Without a new beat for so long a projection counts as run by nobody: longer than another process takes to take it over. */
const SILENT_MS = 10_000

export const NOBODY_RUNS_IT = 'no process runs this projection'

interface FollowProgressDeps {
  readonly documents: Pick<Documents, 'told'>
  readonly models: ReadonlyArray<ReadModel>
  readonly progress: Progress
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** What is known of a projection that another process runs. */
interface Followed {
  readonly reporter: Reporter
  beat: number | null
  /** By this process's clock; of the first look where there was no beat. */
  heardAt: number
  /** Beats since it is followed. */
  beats: number
  /** What is reported as its error. */
  error: string | null
}

const createFollowed = (reporter: Reporter, now: number): Followed => ({ reporter, beat: null, heardAt: now, beats: 0, error: null })

const reportError = (followed: Followed, error: string | null): void => {
  if (followed.error === error) return
  followed.error = error
  if (error === null) followed.reporter.succeeding()
  else followed.reporter.failing(error)
}

/**
 * A projection is current once its process has told something twice since the first look, and then has nothing left to do.
 * Positions alone cannot say that: a log may end in what no projection hears, so that none ever stands at its end.
 */
const report = (followed: Followed, told: Told | null, now: number): void => {
  const { reporter } = followed
  if (told !== null && told.beat !== followed.beat) {
    followed.beats += followed.beat === null ? 0 : 1
    followed.beat = told.beat
    followed.heardAt = now
    reporter.reached(told.passed)
    reporter.rebuilding(told.isRebuilding)
    if (!told.isResting) reporter.working()
    else if (followed.beats >= 2) reporter.resting()
  }
  if (now - followed.heardAt >= SILENT_MS) reportError(followed, NOBODY_RUNS_IT)
  else reportError(followed, told?.isHeldUp === true ? 'the process that runs this projection is held up' : null)
}

/**
 * Reports of the projections that other processes run, from what these tell beside the checkpoints: one request for all, at
 * short intervals while somebody waits. Resolves after the signal.
 */
export const followProgress = async (deps: FollowProgressDeps): Promise<void> => {
  const { documents, models, progress, environment, timers, signal } = deps
  const followed = new Map<string, Followed>()
  let wake = (): void => undefined
  progress.onNews(() => wake())

  const foreign = (): ReadonlyArray<ReadModel> => {
    const own = new Set(progress.lag().flatMap(({ projection, isOwn }) => (isOwn ? [projection] : [])))
    // Whoever runs it next counts its beats anew.
    for (const projection of own) followed.delete(projection)
    return models.filter(({ projection }) => !own.has(projection))
  }
  const followedOf = ({ projection }: ReadModel): Followed => {
    const known = followed.get(projection) ?? createFollowed(progress.reporter(projection), environment.monotonic())
    followed.set(projection, known)
    return known
  }
  const look = async (): Promise<void> => {
    const asked = foreign()
    if (asked.length === 0) return
    const told = await documents.told(asked)()
    const still = new Set(foreign())
    for (const [index, model] of asked.entries()) {
      if (!still.has(model)) continue
      const one = followedOf(model)
      if (E.isRight(told)) report(one, told.right[index] ?? null, environment.monotonic())
      else reportError(one, told.left.reason)
    }
  }
  /** Until it is time for the next look: at once after who comes to wait in an idle time. */
  const untilNext = async (): Promise<void> => {
    await pause(timers, LOOK_MS.awaited, signal)
    if (progress.isAwaited() || signal.aborted) return
    const woken = new AbortController()
    wake = () => { if (progress.isAwaited()) woken.abort() }
    await pause(timers, LOOK_MS.idle - LOOK_MS.awaited, AbortSignal.any([signal, woken.signal]))
    wake = () => undefined
  }
  while (!signal.aborted) {
    await look()
    await untilNext()
  }
}
