import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { admissionDecider } from '../../domain/admission/decider.ts'
import type { AdmissionCommand, AdmissionRefusal } from '../../domain/admission/decider.ts'
import { ADMISSION_STREAM } from '../../domain/admission/events.ts'
import type { AdmissionEvent } from '../../domain/admission/events.ts'
import type { Offering } from '../../domain/admission/placement.ts'
import { fromSnapshot } from '../../domain/admission/snapshot.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import { fold } from '../../domain/shared/decider.ts'
import { createSnapshots } from './admission-snapshots.ts'
import { isUnreadable } from '../errors.ts'
import type { Unavailable } from '../errors.ts'
import { openEvents, sealEvents } from '../log/event-serialization.ts'
import { appendWithRetries, backOff } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Logger } from '../ports/environment.ts'
import type { NewEvent, StoreUnavailable } from '../ports/event-store.ts'

export interface AdmissionRequest {
  readonly command: AdmissionCommand
  readonly commandId: string
  readonly actor: string
  readonly correlationId: string
}

/** The single writer of `admission` in this process. */
export interface AdmissionActor {
  /** The state right after the command. Refusals are decided on a state that is known to be current. */
  readonly send: (request: AdmissionRequest) => TaskEither<AdmissionRefusal | Unavailable, AdmissionState>
  /** As this process knows it: what others append arrives with the next command or refresh. */
  readonly state: () => AdmissionState
  /** Reads what other processes have appended. */
  readonly refresh: TaskEither<Unavailable, AdmissionState>
  /** What workers can run, as this process knows it: every command that it sends respects that. */
  readonly offering: () => Offering | undefined
  /** When all that was sent is answered and no snapshot is being written. */
  readonly idle: () => Promise<void>
}

/** Commands decided one after another and appended as one batch. */
const MAX_BATCH = 100
/** Events behind which no further command joins a batch: one that moves lives may have 200 of its own. */
const FULL_BATCH = 200
/**
 * Decisions of one batch before Contended: the first, one after a read that confirms refusals, the others after lost races.
 * Where several processes admit without pause, a batch loses most of its races.
 */
const MAX_ATTEMPTS = 42
/** From here on waits get no longer: others would only win more races meanwhile. */
const LONGEST_WAIT = 2

type Answer = Either<AdmissionRefusal | Unavailable, AdmissionState>

interface Waiting {
  readonly request: AdmissionRequest
  readonly answer: (answer: Answer) => void
  readonly fail: (defect: unknown) => void
}

/**
 * Decides the batch on the evolving state: each command sees the events of those before it. Commands for which there is
 * no place in the append have no answer.
 */
const decideAll = (start: AdmissionState, batch: ReadonlyArray<Waiting>, offering: Offering | undefined) => {
  let state = start
  const events: Array<{ readonly event: AdmissionEvent; readonly request: AdmissionRequest }> = []
  const answers: Array<Answer> = []
  for (const { request } of batch) {
    if (events.length >= FULL_BATCH) break
    const decided = admissionDecider.decide({ offering, ...request.command }, state)
    if (E.isRight(decided)) {
      state = fold(admissionDecider, decided.right, state)
      events.push(...decided.right.map((event) => ({ event, request })))
    }
    answers.push(E.isLeft(decided) ? decided : E.right(state))
  }
  return { state, events, answers }
}

type AdmissionDeps = WriteDeps & {
  readonly logger: Logger
  readonly snapshotEvery?: number
  /** Absent where one process does everything: then memory alone decides who is given a live. */
  readonly offering?: () => Offering | undefined
}

/**
 * Keeps the state of `admission` in memory and one append in flight: 200 creates at once cost a few appends instead of
 * thousands of conflicts. Any number of processes may run one each; the expected revision decides between them.
 * Rejects when the store cannot be reached at start, with what it said as the cause. Where what it holds cannot be read,
 * commands are refused and the state is that of the last snapshot.
 */
export const createAdmissionActor = async (deps: AdmissionDeps): Promise<AdmissionActor> => {
  const { offering = () => undefined } = deps
  const snapshots = createSnapshots(deps, deps.snapshotEvery ?? 200)
  const snapshot = await snapshots.last()
  let cursor = snapshot === null
    ? { state: admissionDecider.initialState, revision: -1 }
    : { state: fromSnapshot(snapshot), revision: snapshot.revision }
  /** False after an append whose outcome is unknown, until the tail was read. */
  let known = true
  let queue: ReadonlyArray<Waiting> = []
  let running: Promise<void> | null = null

  /** Answers the ids read, so that an append of unknown outcome can be found among them. */
  const readTail = async (): Promise<Either<Unavailable, ReadonlyArray<string>>> => {
    const base = cursor
    const stored = await deps.store.read(ADMISSION_STREAM, { from: base.revision + 1 })()
    if (E.isLeft(stored)) return stored
    const opened = await openEvents(deps.keyring)(stored.right)()
    if (E.isLeft(opened)) return opened
    const revision = stored.right.at(-1)?.revision ?? base.revision
    const state = fold(admissionDecider, opened.right as ReadonlyArray<AdmissionEvent>, base.state)
    if (revision > cursor.revision) cursor = { state, revision }
    return E.right(stored.right.map((event) => event.id))
  }

  const toNewEvents = async (decided: ReturnType<typeof decideAll>['events']): Promise<Either<Unavailable, ReadonlyArray<NewEvent>>> => {
    const sealed = await sealEvents(deps.keyring, ADMISSION_STREAM)(decided.map(({ event }) => event))()
    if (E.isLeft(sealed)) return sealed
    const recordedAt = deps.environment.now()
    return E.right(decided.flatMap(({ request }, index) => sealed.right.slice(index, index + 1).map((event) => ({
      ...event,
      id: deps.environment.newId(),
      metadata: { correlationId: request.correlationId, causationId: request.commandId, actor: request.actor, recordedAt },
    }))))
  }

  /** Answers the batch from its beginning, not always to its end. */
  const settle = async (batch: ReadonlyArray<Waiting>): Promise<ReadonlyArray<Answer>> => {
    const everyone = (failure: Unavailable): ReadonlyArray<Answer> => batch.map(() => E.left(failure))
    let confirmed = false
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (!known) {
        const tail = await readTail()
        if (E.isLeft(tail)) return everyone(tail.left)
        known = true
        confirmed = true
      }
      const { revision } = cursor
      const { state, events, answers } = decideAll(cursor.state, batch, offering())
      if (events.length === 0) {
        if (confirmed) return answers
        // Nothing to append that would prove the state current: another process may have made room.
        known = false
        continue
      }
      const newEvents = await toNewEvents(events)
      if (E.isLeft(newEvents)) return everyone(newEvents.left)
      const appended = await appendWithRetries(deps, ADMISSION_STREAM, revision < 0 ? 'no-stream' : revision, newEvents.right)
      if (E.isRight(appended)) {
        if (appended.right.revision > cursor.revision) cursor = { state, revision: appended.right.revision }
        return answers
      }
      known = false
      const tail = await readTail()
      if (E.isRight(tail)) {
        known = true
        confirmed = true
        if (newEvents.right.some((event) => tail.right.includes(event.id))) return answers
      }
      if (appended.left._tag === 'StoreUnavailable') return everyone(appended.left)
      await backOff(deps, Math.min(attempt, LONGEST_WAIT))
    }
    return everyone({ _tag: 'Contended', stream: ADMISSION_STREAM })
  }

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH)
      let settled = batch.length
      try {
        const answers = await settle(batch)
        settled = answers.length
        answers.forEach((answer, index) => batch[index]?.answer(answer))
      } catch (defect) {
        // Each caller gets the defect; the queue goes on.
        known = false
        for (const { fail } of batch) fail(defect)
      }
      queue = queue.slice(settled)
      snapshots.offer(cursor.state, cursor.revision)
    }
    running = null
  }

  const idle = async (): Promise<void> => {
    if (running === null) return await snapshots.idle()
    await running
    return await idle()
  }

  const first = await readTail()
  if (E.isLeft(first) && !isUnreadable(first.left))
    throw new Error(`cannot read ${ADMISSION_STREAM}: ${first.left._tag}`, { cause: first.left })
  // Each command then reads again, and is refused as long as that fails.
  known = E.isRight(first)

  return {
    send: (request) => () => new Promise((answer, fail) => {
      // Asked here: the batch runs in the course of whoever came first.
      const correlationId = deps.environment.correlationId() ?? request.correlationId
      queue = [...queue, { request: { ...request, correlationId }, answer, fail }]
      // Begins in a microtask, so that commands sent in one go share a batch.
      running ??= Promise.resolve().then(drain)
    }),
    state: () => cursor.state,
    offering,
    refresh: async () => {
      const tail = await readTail()
      return E.isLeft(tail) ? tail : E.right(cursor.state)
    },
    idle,
  }
}

const isStoreUnavailable = (cause: unknown): cause is StoreUnavailable =>
  (cause as Partial<StoreUnavailable> | undefined)?._tag === 'StoreUnavailable'

/** As `createAdmissionActor`, for whoever asks a store again that does not answer at the moment. */
export const openAdmission = (deps: AdmissionDeps): TaskEither<StoreUnavailable, AdmissionActor> =>
  TE.tryCatch(() => createAdmissionActor(deps), (error) => {
    if (error instanceof Error && isStoreUnavailable(error.cause)) return error.cause
    throw error
  })
