import type { Members, Offers } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'

/**
 * A share is the part of a lane that a session of a model takes. A lane runs one pass of a model at a time. Each pass
 * changes the share a little. Relative changes below this limit are not announced.
 */
const MIN_DRIFT = 0.1
/** Interval of the checks for changes. A change is published with the next heartbeat, by default every second. */
const INTERVAL_MS = 1000

interface Announcement {
  readonly offers: Offers
  readonly lives: ReadonlyArray<number>
  readonly logAnswers: boolean
}

interface AnnounceWorkerDeps {
  readonly members: Pick<Members, 'announce'>
  readonly timers: Timers
  readonly offers: () => Offers
  /** Ids of the sessions that this worker transcribes. */
  readonly lives: () => ReadonlyArray<number>
  readonly logAnswers: () => boolean
}

const hasDrifted = (before: number, now: number): boolean => Math.abs(now - before) > MIN_DRIFT * before

/** Keeps the announced share of each model unless it has drifted. */
const withStableShares = (offers: Offers, before: Offers | undefined): Offers => ({
  ...offers,
  models: offers.models.map((model) => {
    const { share = model.share } = before?.models.find(({ name }) => name === model.name) ?? {}
    return hasDrifted(share, model.share) ? model : { ...model, share }
  }),
})

/**
 * Announces the models, sessions and pass times of this worker to the other processes: at once, and after each
 * noticeable change.
 */
export const announceWorker = (deps: AnnounceWorkerDeps): { readonly stop: () => void } => {
  const { members, timers } = deps
  let announced: Announcement | undefined
  let cancel: () => void = () => undefined

  const announceChanges = (): void => {
    const next = {
      offers: withStableShares(deps.offers(), announced?.offers),
      lives: [...deps.lives()].toSorted((a, b) => a - b),
      logAnswers: deps.logAnswers(),
    }
    if (JSON.stringify(next) !== JSON.stringify(announced)) members.announce(next)
    announced = next
    cancel = timers.after(INTERVAL_MS, announceChanges)
  }

  announceChanges()
  return { stop: () => cancel() }
}
