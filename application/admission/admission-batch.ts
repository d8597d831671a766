import type { AdmissionEvent } from '../../domain/admission/events.ts'
import type { Offering } from '../../domain/admission/placement.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import type { Unavailable } from '../refusals.ts'
import type { Origin } from '../log/origin.ts'

/** No further command joins a batch with this many events. A single command can move 200 sessions. */
const FULL_BATCH_EVENTS = 200
/** What the actor adds to every command. */
export interface About {
  readonly offering: Offering | undefined
  /** The present time by the clock of the store. */
  readonly at: string
}

/** Tells a decision to the sender of its command. */
export type Answer = () => void

export interface WaitingCommand {
  readonly origin: Origin
  readonly decide: (state: AdmissionState, about: About) => {
    readonly events: ReadonlyArray<AdmissionEvent>
    readonly state: AdmissionState
    readonly answer: Answer
  }
  readonly refuse: (failure: Unavailable) => void
  readonly fail: (defect: unknown) => void
}

/**
 * Decides the commands one after another, each on the state after the commands before it. Commands that do not fit into
 * the append get no answer yet.
 */
export const decideAll = (start: AdmissionState, batch: ReadonlyArray<WaitingCommand>, about: About) => {
  let state = start
  const events: Array<{ readonly event: AdmissionEvent; readonly origin: Origin }> = []
  const answers: Array<Answer> = []
  for (const { origin, decide } of batch) {
    if (events.length >= FULL_BATCH_EVENTS) break
    const decided = decide(state, about)
    state = decided.state
    events.push(...decided.events.map((event) => ({ event, origin })))
    answers.push(decided.answer)
  }
  return { state, events, answers }
}
