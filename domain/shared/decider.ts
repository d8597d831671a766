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

/** What a command must have to be told from the others of its aggregate. */
export interface Named {
  readonly type: string
}

/** The commands of this type. */
export type CommandOf<Command extends Named, Type extends Command['type']> =
  Extract<Command, { readonly type: Type }> & { readonly type: Type }

/** A command with the instant at which it was sent. */
export type Stamped<Command> = Command & { readonly at: string }

/** For each type of command, the refusals that it can meet. `never`: it is never refused. */
export type RefusalsOf<Command extends Named> = { readonly [Type in Command['type']]: unknown }

/** The rules of an aggregate, one for each type of command. */
export type Decisions<State, Command extends Named, Event, Refusals extends RefusalsOf<Command>> = {
  readonly [Type in Command['type']]: (
    command: Stamped<CommandOf<Command, Type>>,
    state: State,
  ) => Either<Refusals[Type], ReadonlyArray<Event>>
}

/** A decider whose commands each have their own refusals, so nobody handles one that cannot happen. */
export interface DeciderByCommand<State, Command extends Named, Event, Refusals extends RefusalsOf<Command>>
  extends Omit<Decider<State, Command, Event, unknown>, 'decide'> {
  readonly decide: <Type extends Command['type']>(
    command: Stamped<CommandOf<Command, Type>>,
    state: State,
  ) => Either<Refusals[Type], ReadonlyArray<Event>>
}

/** Returns the function `decide` of these rules. */
export const decideBy =
  <State, Command extends Named, Event, Refusals extends RefusalsOf<Command>>(
    decisions: Decisions<State, Command, Event, Refusals>,
  ): DeciderByCommand<State, Command, Event, Refusals>['decide'] =>
  (command, state) => decisions[command.type](command, state)

/** Returns the state after `events`, starting from `state` (default: the initial state). */
export const fold = <State, Event>(
  decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
  events: ReadonlyArray<Event>,
  state: State = decider.initialState,
): State => events.reduce(decider.evolve, state)
