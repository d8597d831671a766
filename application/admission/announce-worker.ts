import type { Members, Offers } from '../ports/peers/members.ts'
import type { Timers } from '../ports/timers.ts'

/** A session's part of a lane that changes by less tells nobody anything: each pass moves it a little. */
const DRIFT_OF_NOTE = 0.1
/** As often as members beat; what is announced travels with a beat. */
const EVERY_MS = 1000

interface Told {
  readonly offers: Offers
  readonly lives: ReadonlyArray<number>
  readonly logAnswers: boolean
}

interface AnnounceWorkerDeps {
  readonly members: Pick<Members, 'announce'>
  readonly timers: Timers
  readonly offers: () => Offers
  /** Lives that it hears. */
  readonly lives: () => ReadonlyArray<number>
  readonly logAnswers: () => boolean
}

const hasDrifted = (before: number, now: number): boolean => Math.abs(now - before) > DRIFT_OF_NOTE * before

/** What is told, each share as it was told before unless it has drifted. */
const settled = (offers: Offers, before: Offers | undefined): Offers => ({
  ...offers,
  models: offers.models.map((model) => {
    const { share = model.share } = before?.models.find(({ name }) => name === model.name) ?? {}
    return hasDrifted(share, model.share) ? model : { ...model, share }
  }),
})

/**
 * Tells the other processes what this one can run: at once, and again whenever its catalogue, a loaded model, the lives
 * that it hears, or the time of its passes have changed by something of note.
 */
export const announceWorker = (deps: AnnounceWorkerDeps): { readonly stop: () => void } => {
  const { members, timers } = deps
  let told: Told | undefined
  let cancel: () => void = () => undefined

  const look = (): void => {
    const next = {
      offers: settled(deps.offers(), told?.offers),
      lives: [...deps.lives()].toSorted((one, other) => one - other),
      logAnswers: deps.logAnswers(),
    }
    // It travels as text anyway.
    if (JSON.stringify(next) !== JSON.stringify(told)) members.announce(next)
    told = next
    cancel = timers.after(EVERY_MS, look)
  }

  look()
  return { stop: () => cancel() }
}
