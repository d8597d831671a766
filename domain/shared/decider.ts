import type { Either } from 'fp-ts/lib/Either.js'

/**
 * The rules of one aggregate as three pure functions. `decide` has three kinds of answer: a refusal (left),
 * nothing to do (`right([])`), and the events that happened. Time, ids and secrets arrive inside the command.
 */
export interface Decider<State, Command, Event, Refusal> {
  readonly initialState: State
  readonly evolve: (state: State, event: Event) => State
  readonly decide: (command: Command, state: State) => Either<Refusal, ReadonlyArray<Event>>
}

/** The state after `events`, starting from `state` or from the beginning. */
export const fold = <State, Event>(
  decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
  events: ReadonlyArray<Event>,
  state: State = decider.initialState,
): State => events.reduce(decider.evolve, state)
