import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import type { Decider } from '../../domain/shared/decider.ts'
import type { Contended, Unavailable } from '../refusals.ts'
import { type PlainEvent, sealEvents } from './event-serialization.ts'
import type { Environment } from '../ports/environment.ts'
import type {
  Appended, EventStore, ExpectedRevision, NewEvent, Position, StoredEvent, StoreUnavailable, WrongRevision,
} from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { advanced, keepState, loadState, type StreamStates } from './states/load-state.ts'
import type { Known, Recorded } from './states/known-states.ts'
import { pause } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface WriteDeps {
  readonly store: EventStore
  readonly keyring: Keyring
  readonly environment: Environment
  readonly timers: Timers
  /** Absent in programs that run once: they read every stream from its beginning. */
  readonly states?: StreamStates | undefined
}

export interface Handled<State, Event> {
  readonly state: State
  /** The events of the command. Empty when nothing happened. */
  readonly events: ReadonlyArray<Event>
  /** The events in stored form. Events that were appended together all have the position of the last one. */
  readonly stored: ReadonlyArray<StoredEvent>
  /** Position of the last appended event. Null when nothing happened. */
  readonly position: Position | null
}

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
    const appended = await deps.store.append(stream, expected, events)
    if (E.isRight(appended) || appended.left._tag === 'WrongRevision' || repeat === MAX_REPEATS) return appended
    await backOff(deps, repeat)
  }
}

/** True when the stream has fewer events than are known of it. */
const isShorter = ({ actual }: WrongRevision, { revision }: Pick<Known<unknown, unknown>, 'revision'>): boolean =>
  (actual === 'no-stream' ? -1 : actual) < (revision ?? -1)

/**
 * The only write path of decisions: load, fold, decide, append at the expected revision. If another writer appended
 * first, it decides again, at most four times, and then fails with Contended. `commandId` identifies a command on a
 * stream: a repeated command returns the events of the first command. In a stream that grows without limit, it does so
 * only while few other events followed. So the decider of such a stream must decide nothing for a repeated command.
 */
export const handleCommand =
  (deps: WriteDeps) =>
  async <State, Command, Event extends PlainEvent, Refusal>(request: {
    readonly stream: string
    readonly decider: Decider<State, Command, Event, Refusal>
    readonly command: Command
    readonly commandId: string
    readonly actor: string
    /** Used only outside of HTTP requests. Inside a request the id of the request is used. */
    readonly correlationId: string
  }): Promise<Either<Refusal | Unavailable, Handled<State, Event>>> => {
    const { stream, decider, commandId } = request
    const correlationId = deps.environment.correlationId() ?? request.correlationId
    const isOurs = ({ stored }: Recorded<Event>): boolean => stored.metadata.causationId === commandId

    const load = (base?: Known<State, Event>): Promise<Either<Unavailable, Known<State, Event>>> =>
      loadState(deps)(stream, decider, { base, commandId })
    /** Returns the events of an earlier attempt with this command id, or null. */
    const findEarlier = ({ state, recent }: Known<State, Event>): Handled<State, Event> | null => {
      const ours = recent.filter(isOurs)
      const position = ours.at(-1)?.stored.position
      if (position === undefined) return null
      return { state, events: ours.map(({ event }) => event), stored: ours.map(({ stored }) => stored), position }
    }
    /**
     * Looks for the events of this command before it fails, because an append with unknown outcome may have succeeded.
     */
    const findOrFail = async (
      failure: StoreUnavailable | Contended,
      base?: Known<State, Event>,
    ): Promise<Either<Unavailable, Handled<State, Event>>> => {
      const loaded = await load(base)
      return E.fromNullable(failure)(E.isRight(loaded) ? findEarlier(loaded.right) : null)
    }

    // A stream whose events have expired reads as empty but keeps its revisions. Only the error WrongRevision contains
    // its last revision.
    let emptyAt: ExpectedRevision = 'no-stream'
    // Later attempts continue from the first load, and so find all events since then. A stream that may be shortened is
    // read again.
    let base: Known<State, Event> | undefined
    for (let attempt = 0; attempt <= MAX_RETRIES; attempt++) {
      const loaded = await load(base)
      if (E.isLeft(loaded)) return loaded
      const known = loaded.right
      base = decider.snapshots && known
      const earlier = findEarlier(known)
      if (earlier !== null) return E.right(earlier)

      const decided = decider.decide(request.command, known.state)
      if (E.isLeft(decided)) return decided
      if (decided.right.length === 0) return E.right({ state: known.state, events: [], stored: [], position: null })

      const sealed = await sealEvents(deps.keyring, stream)(decided.right)
      if (E.isLeft(sealed)) return sealed
      const recordedAt = deps.environment.now()
      const metadata = { correlationId, causationId: commandId, actor: request.actor, recordedAt }
      const events = sealed.right.map((event): NewEvent => ({ ...event, id: deps.environment.newId(), metadata }))
      const appended = await appendWithRetries(deps, stream, known.revision ?? emptyAt, events)
      if (E.isRight(appended)) {
        const { revision, position } = appended.right
        const first = revision - events.length + 1
        const storedAt = deps.store.now()
        const stored = events.map((event, index) =>
          ({ ...event, stream, position, revision: first + index, storedAt }))
        const records = RA.zipWith(decided.right, stored, (event, written) => ({ event, stored: written }))
        const { state } = keepState(deps, stream, decider.snapshots, advanced(decider, known, records))
        return E.right({ state, events: decided.right, stored, position })
      }
      const failure = appended.left
      if (failure._tag === 'StoreUnavailable') return await findOrFail(failure, base)
      emptyAt = failure.actual
      if (isShorter(failure, known)) {
        // An older copy replaced the log.
        deps.states?.known.forget(stream)
        base = undefined
      }
      await backOff(deps, attempt)
    }
    return await findOrFail({ _tag: 'Contended', stream }, base)
  }
