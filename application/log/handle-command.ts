import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
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
import { readUndamaged } from './read-undamaged.ts'
import { pause } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface WriteDeps {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly environment: Environment
  readonly timers: Timers
}

export interface Handled<State, Event> {
  /** The state after the command. */
  readonly state: State
  /** The events of the command. Empty when nothing happened. */
  readonly events: ReadonlyArray<Event>
  /** The events in stored form. Events that were appended together all have the position of the last one. */
  readonly stored: ReadonlyArray<StoredEvent>
  /** Position of the last appended event. Null when nothing happened. */
  readonly position: Position | null
}

/** The state of a stream up to a revision. */
interface Known<State> {
  readonly state: State
  readonly revision: Revision
}

/**
 * Caches the states of recently used streams, so the next command reads only newer events. A repeated command is
 * recognised by its events, so it is not recognised when the cached state already contains them.
 */
export interface KnownStates<State> {
  readonly get: (stream: string) => Known<State> | undefined
  readonly keep: (stream: string, known: Known<State>) => void
  readonly forget: (stream: string) => void
}

/** Keeps the states of at most `maxStreams` streams. */
export const createKnownStates = <State>(maxStreams: number): KnownStates<State> => {
  const states = new Map<string, Known<State>>()
  return {
    get: (stream) => states.get(stream),
    keep: (stream, known) => {
      states.delete(stream)
      states.set(stream, known)
      const [leastRecent] = states.keys()
      if (states.size > maxStreams && leastRecent !== undefined) states.delete(leastRecent)
    },
    forget: (stream) => void states.delete(stream),
  }
}

export type Loaded<State, Event> = Pick<Handled<State, Event>, 'state' | 'events' | 'stored'>

interface LoadedUpTo<State, Event> extends Loaded<State, Event> {
  /** Revision of the newest event. Null when the stream has no events. */
  readonly revision: Revision | null
}

interface Plain {
  readonly type: string
  readonly data: unknown
}

/** True when a member reads `[erased]`. Its key may be restored, so a state with such a member must not be cached. */
const hasErasedMember = ({ data }: Plain): boolean =>
  typeof data === 'object' && data !== null && Object.values(data).includes(ERASED)

/** When other writers change the stream, the command decides again this many times. Then it fails with Contended. */
const MAX_RETRIES = 4
/** Maximum number of times that an append with unknown outcome is repeated. */
const MAX_REPEATS = 2

/** Waits a random time: up to 5 ms for attempt 0. The maximum doubles with each further attempt. */
export const backOff = (deps: Pick<WriteDeps, 'environment' | 'timers'>, attempt: number): Promise<void> =>
  pause(deps.timers, deps.environment.random() * 5 * 2 ** attempt)

/** Repeats an append while its outcome is unknown. The store writes equal event ids at the same revision only once. */
export const appendWithRetries = async (
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

/** Reads and folds a stream, from its beginning or from a known state. A missing stream gives the initial state. */
export const loadState =
  (deps: Pick<WriteDeps, 'store' | 'keyring'>) =>
  <State, Event extends Plain>(
    stream: string,
    decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
    known?: Known<State>,
  ): TaskEither<StoreUnavailable | Unreadable | KeyringUnavailable, Loaded<State, Event>> =>
    pipe(
      TE.Do,
      TE.bindW('stored', () => deps.store.read(stream, known === undefined ? {} : { from: known.revision + 1 })),
      TE.bindW('opened', ({ stored }) => openEvents(deps.keyring)(stored)),
      TE.map(({ stored, opened }) => {
        // Safe: the codecs of the stream's own events have decoded them.
        const events = opened as ReadonlyArray<Event>
        return { state: fold(decider, events, known?.state), events, stored }
      }),
    )

/** Reads and folds the usable events of a stream and skips the others. Do not use it for decisions. */
export const loadReadable =
  (deps: Pick<WriteDeps, 'store' | 'keyring'>) =>
  <State, Event extends Plain>(
    stream: string,
    decider: Pick<Decider<State, never, Event, unknown>, 'initialState' | 'evolve'>,
  ): TaskEither<StoreUnavailable | KeyringUnavailable, Loaded<State, Event>> =>
    pipe(
      TE.Do,
      TE.bindW('read', () => readUndamaged(deps.store, stream)),
      TE.bindW('opened', ({ read }) => openReadable(deps.keyring)(read.events)),
      TE.map(({ read, opened }) => {
        const events = opened as ReadonlyArray<Event>
        return { state: fold(decider, events), events, stored: read.events }
      }),
    )

/**
 * The only write path of decisions: load, fold, decide, append at the expected revision. If another writer appended
 * first, it decides again, at most four times, and then fails with Contended. `commandId` identifies a command on a
 * stream: a repeated command returns the events of the first command.
 */
export const handleCommand =
  (deps: WriteDeps) =>
  <State, Command, Event extends Plain, Refusal>(request: {
    readonly stream: string
    readonly decider: Decider<State, Command, Event, Refusal>
    readonly command: Command
    readonly commandId: string
    readonly actor: string
    /** Used only outside of HTTP requests. Inside a request the id of the request is used. */
    readonly correlationId: string
    /** For streams that grow without limit: a command then reads only the events after the cached state. */
    readonly knownStates?: KnownStates<State>
  }): TaskEither<Refusal | Unavailable, Handled<State, Event>> =>
  async () => {
    const { stream, decider, knownStates } = request
    const correlationId = deps.environment.correlationId() ?? request.correlationId
    const isOurs = (event: StoredEvent): boolean => event.metadata.causationId === request.commandId

    const keep = (loaded: Loaded<State, Event>, known: Known<State>): void => {
      if (!loaded.events.some(hasErasedMember)) knownStates?.keep(stream, known)
    }
    const load = async (): Promise<Either<Unavailable, LoadedUpTo<State, Event>>> => {
      const known = knownStates?.get(stream)
      const loaded = await loadState(deps)(stream, decider, known)()
      if (E.isLeft(loaded)) return loaded
      const revision = loaded.right.stored.at(-1)?.revision ?? known?.revision ?? null
      if (revision !== null) keep(loaded.right, { state: loaded.right.state, revision })
      return E.right({ ...loaded.right, revision })
    }
    /** Returns the events of an earlier attempt with this command id, or null. */
    const findEarlier = (loaded: Loaded<State, Event>): Handled<State, Event> | null => {
      const stored = loaded.stored.filter(isOurs)
      const position = stored.at(-1)?.position
      const events = loaded.events.filter((_, index) => loaded.stored.slice(index, index + 1).some(isOurs))
      return position === undefined ? null : { state: loaded.state, events, stored, position }
    }
    /**
     * Looks for the events of this command before it fails, because an append with unknown outcome may have succeeded.
     */
    const findOrFail = async (
      failure: StoreUnavailable | Contended,
    ): Promise<Either<Unavailable, Handled<State, Event>>> => {
      const loaded = await load()
      return E.fromNullable(failure)(E.isRight(loaded) ? findEarlier(loaded.right) : null)
    }

    // A stream whose events have expired reads as empty but keeps its revisions. Only the error WrongRevision contains
    // its last revision.
    let emptyAt: ExpectedRevision = 'no-stream'
    for (let attempt = 0; attempt <= MAX_RETRIES; attempt++) {
      const loaded = await load()
      if (E.isLeft(loaded)) return loaded
      const earlier = findEarlier(loaded.right)
      if (earlier !== null) return E.right(earlier)

      const decided = decider.decide(request.command, loaded.right.state)
      if (E.isLeft(decided)) return decided
      if (decided.right.length === 0)
        return E.right({ state: loaded.right.state, events: [], stored: [], position: null })

      const sealed = await sealEvents(deps.keyring, stream)(decided.right)()
      if (E.isLeft(sealed)) return sealed
      const recordedAt = deps.environment.now()
      const metadata = { correlationId, causationId: request.commandId, actor: request.actor, recordedAt }
      const events = sealed.right.map((event): NewEvent => ({ ...event, id: deps.environment.newId(), metadata }))
      const appended = await appendWithRetries(deps, stream, loaded.right.revision ?? emptyAt, events)
      if (E.isRight(appended)) {
        const { revision, position } = appended.right
        const state = fold(decider, decided.right, loaded.right.state)
        keep(loaded.right, { state, revision })
        const first = revision - events.length + 1
        const stored = events.map((event, index) => ({ ...event, stream, position, revision: first + index }))
        return E.right({ state, events: decided.right, stored, position })
      }
      const failure = appended.left
      if (failure._tag === 'StoreUnavailable') return await findOrFail(failure)
      emptyAt = failure.actual
      knownStates?.forget(stream)
      await backOff(deps, attempt)
    }
    return await findOrFail({ _tag: 'Contended', stream })
  }
