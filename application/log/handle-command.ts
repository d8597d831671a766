import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { fold } from '../../domain/shared/decider.ts'
import type { Decider } from '../../domain/shared/decider.ts'
import { ERASED } from '../../domain/shared/event.ts'
import type { Contended, Unavailable } from '../errors.ts'
import { openEvents, openReadable, sealEvents } from './event-serialization.ts'
import type { Unreadable } from './event-serialization.ts'
import type { Environment } from '../ports/environment.ts'
import type {
  Appended,
  EventStore,
  ExpectedRevision,
  NewEvent,
  Position,
  Revision,
  StoredEvent,
  StoreUnavailable,
  WrongRevision,
} from '../ports/event-store.ts'
import type { Keyring, KeyringUnavailable } from '../ports/keyring.ts'
import { readAround } from './read-around.ts'
import { pause } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface WriteDeps {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly environment: Environment
  readonly timers: Timers
}

export interface Handled<State, Event> {
  readonly state: State
  readonly events: ReadonlyArray<Event>
  /** As they stand in the log; those of one command were appended together and share the position of the last. */
  readonly stored: ReadonlyArray<StoredEvent>
  /** Of the last event of the stream that we appended, or null when nothing happened. */
  readonly position: Position | null
}

/** A stream folded up to a revision. */
interface Known<State> {
  readonly state: State
  readonly revision: Revision
}

/**
 * The states of streams to which commands came lately, so that the next one reads only what was appended since. Of
 * those only, a repeated command is not found by its id.
 */
export interface KnownStates<State> {
  readonly of: (stream: string) => Known<State> | undefined
  readonly keep: (stream: string, known: Known<State>) => void
  readonly forget: (stream: string) => void
}

/** Keeps the `most` streams that commands came to last. */
export const createKnownStates = <State>(most: number): KnownStates<State> => {
  const states = new Map<string, Known<State>>()
  return {
    of: (stream) => states.get(stream),
    keep: (stream, known) => {
      states.delete(stream)
      states.set(stream, known)
      const [longestAgo] = states.keys()
      if (states.size > most && longestAgo !== undefined) states.delete(longestAgo)
    },
    forget: (stream) => void states.delete(stream),
  }
}

export type Loaded<State, Event> = Pick<Handled<State, Event>, 'state' | 'events' | 'stored'>

interface LoadedUpTo<State, Event> extends Loaded<State, Event> {
  /** Of the newest event; null of a stream that reads as empty. */
  readonly revision: Revision | null
}

interface Plain {
  readonly type: string
  readonly data: unknown
}

/** A member that reads so may be there again, once its key is: what is folded of it must not be kept. */
const readsErased = ({ data }: Plain): boolean =>
  typeof data === 'object' && data !== null && Object.values(data).includes(ERASED)

/** Re-decisions after a lost race, before Contended. */
const MAX_RETRIES = 4
/** Identical appends after the first whose outcome is unknown. */
const MAX_REPEATS = 2

/** Full jitter, doubling from 5 ms. */
export const backOff = (deps: Pick<WriteDeps, 'environment' | 'timers'>, attempt: number): Promise<void> =>
  pause(deps.timers, deps.environment.random() * 5 * 2 ** attempt)

/** Repeats an append whose outcome is unknown: the same ids at the same revision are written at most once. */
export const appendSurely = async (
  deps: WriteDeps,
  stream: string,
  expected: ExpectedRevision,
  events: ReadonlyArray<NewEvent>,
): Promise<Either<WrongRevision | StoreUnavailable, Appended>> => {
  for (let repeat = 0; ; repeat++) {
    const appended = await deps.store.append(stream, expected, events)()
    if (E.isRight(appended) || appended.left._tag === 'WrongRevision' || repeat === MAX_REPEATS) return appended
    await backOff(deps, repeat)
  }
}

/** A stream folded, from its beginning or from what is known; an unknown or deleted one is the initial state. */
export const loadState =
  (deps: Pick<WriteDeps, 'store' | 'keyring'>) =>
  <State, Event extends Plain>(
    stream: string,
    decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
    known?: Known<State>,
  ): TaskEither<StoreUnavailable | Unreadable | KeyringUnavailable, Loaded<State, Event>> =>
  async () => {
    const stored = await deps.store.read(stream, known === undefined ? {} : { from: known.revision + 1 })()
    if (E.isLeft(stored)) return stored
    const opened = await openEvents(deps.keyring)(stored.right)()
    if (E.isLeft(opened)) return opened
    // The codecs of the stream's own events have decoded them.
    const events = opened.right as ReadonlyArray<Event>
    return E.right({ state: fold(decider, events, known?.state), events, stored: stored.right })
  }

/** As much of a stream as can be read, folded: for who would rather know that much than nothing. Not for decisions. */
export const loadReadable =
  (deps: Pick<WriteDeps, 'store' | 'keyring'>) =>
  <State, Event extends Plain>(
    stream: string,
    decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
  ): TaskEither<StoreUnavailable | KeyringUnavailable, Loaded<State, Event>> =>
  async () => {
    const around = await readAround(deps.store, stream)()
    if (E.isLeft(around)) return around
    const opened = await openReadable(deps.keyring)(around.right.events)()
    if (E.isLeft(opened)) return opened
    const events = opened.right as ReadonlyArray<Event>
    return E.right({ state: fold(decider, events), events, stored: around.right.events })
  }

/**
 * THE write path: load, fold, decide, append with the expected revision, re-decide when somebody else was faster
 * (at most four times, then Contended). `commandId` names one command on one stream: a repeated one finds its events.
 */
export const handleCommand =
  (deps: WriteDeps) =>
  <State, Command, Event extends Plain, Refusal>(request: {
    readonly stream: string
    readonly decider: Decider<State, Command, Event, Refusal>
    readonly command: Command
    readonly commandId: string
    readonly actor: string
    /** Where no request is being answered; in its course the request's own. */
    readonly correlationId: string
    /** For streams that grow without end: their commands then cost no more the longer they are. */
    readonly knownStates?: KnownStates<State>
  }): TaskEither<Refusal | Unavailable, Handled<State, Event>> =>
  async () => {
    const { stream, decider, knownStates } = request
    const correlationId = deps.environment.correlationId() ?? request.correlationId
    const isOurs = (event: StoredEvent): boolean => event.metadata.causationId === request.commandId

    /** What the stream is up to `revision`, for the next command, unless `loaded` lacks something of it. */
    const keep = (loaded: Loaded<State, Event>, known: Known<State>): void => {
      if (!loaded.events.some(readsErased)) knownStates?.keep(stream, known)
    }
    const load = async (): Promise<Either<Unavailable, LoadedUpTo<State, Event>>> => {
      const known = knownStates?.of(stream)
      const loaded = await loadState(deps)(stream, decider, known)()
      if (E.isLeft(loaded)) return loaded
      const revision = loaded.right.stored.at(-1)?.revision ?? known?.revision ?? null
      if (revision !== null) keep(loaded.right, { state: loaded.right.state, revision })
      return E.right({ ...loaded.right, revision })
    }
    const found = (loaded: Loaded<State, Event>): Handled<State, Event> | null => {
      const stored = loaded.stored.filter(isOurs)
      const position = stored.at(-1)?.position
      const events = loaded.events.filter((_, index) => loaded.stored.slice(index, index + 1).some(isOurs))
      return position === undefined ? null : { state: loaded.state, events, stored, position }
    }
    /** An append whose outcome is unknown may have been made: look before giving up. */
    const foundOr = async (failure: StoreUnavailable | Contended): Promise<Either<Unavailable, Handled<State, Event>>> => {
      const loaded = await load()
      return E.fromNullable(failure)(E.isRight(loaded) ? found(loaded.right) : null)
    }

    // A stream whose events have expired reads as empty and goes on numbering: only a WrongRevision tells where it stands.
    let emptyAt: ExpectedRevision = 'no-stream'
    for (let attempt = 0; attempt <= MAX_RETRIES; attempt++) {
      const loaded = await load()
      if (E.isLeft(loaded)) return loaded
      const earlier = found(loaded.right)
      if (earlier !== null) return E.right(earlier)

      const decided = decider.decide(request.command, loaded.right.state)
      if (E.isLeft(decided)) return decided
      if (decided.right.length === 0) return E.right({ state: loaded.right.state, events: [], stored: [], position: null })

      const sealed = await sealEvents(deps.keyring, stream)(decided.right)()
      if (E.isLeft(sealed)) return sealed
      const recordedAt = deps.environment.now()
      const metadata = { correlationId, causationId: request.commandId, actor: request.actor, recordedAt }
      const events = sealed.right.map((event): NewEvent => ({ ...event, id: deps.environment.newId(), metadata }))
      const appended = await appendSurely(deps, stream, loaded.right.revision ?? emptyAt, events)
      if (E.isRight(appended)) {
        const { revision, position } = appended.right
        const state = fold(decider, decided.right, loaded.right.state)
        keep(loaded.right, { state, revision })
        return E.right({
          state,
          events: decided.right,
          stored: events.map((event, index) => ({ ...event, stream, position, revision: revision - events.length + 1 + index })),
          position,
        })
      }
      const failure = appended.left
      if (failure._tag === 'StoreUnavailable') return await foundOr(failure)
      emptyAt = failure.actual
      knownStates?.forget(stream)
      await backOff(deps, attempt)
    }
    return await foundOr({ _tag: 'Contended', stream })
  }
