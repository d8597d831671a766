import type { Either } from 'fp-ts/lib/Either.js'
import type { SnapshotFormat } from './snapshot.ts'

/**
 * The rules of one aggregate, without side effects. `decide` returns a refusal (left), `right([])` when there is
 * nothing to do, or the events that happened. Commands carry the time, ids and secrets that a decision needs.
 */
export interface Decider<State, Command, Event, Refusal> {
  readonly initialState: State
  readonly evolve: (state: State, event: Event) => State
  readonly decide: (command: Command, state: State) => Either<Refusal, ReadonlyArray<Event>>
  /** For streams that grow without limit: their states are kept in memory and in snapshots. */
  readonly snapshots?: SnapshotFormat<State> | undefined
}

/** Returns the state after `events`, starting from `state` (default: the initial state). */
export const fold = <State, Event>(
  decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
  events: ReadonlyArray<Event>,
  state: State = decider.initialState,
): State => events.reduce(decider.evolve, state)
