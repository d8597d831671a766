import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as RA from 'fp-ts/lib/ReadonlyArray.js'
import { pipe } from 'fp-ts/lib/function.js'
import { type AdmissionCommand, admissionDecider, type AdmissionRefusals } from '../../domain/admission/decider.ts'
import { ADMISSION_STREAM, type AdmissionEvent } from '../../domain/admission/events.ts'
import type { Offering } from '../../domain/admission/placement.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import { fold, type CommandOf } from '../../domain/shared/decider.ts'
import { decideAll, type Answer, type WaitingCommand } from './admission-batch.ts'
import { createSnapshots } from './admission-snapshots.ts'
import { isUnreadable, type Unavailable } from '../refusals.ts'
import { openEvents, sealEvents } from '../log/event-serialization.ts'
import { storeInstant } from '../store-time.ts'
import { appendWithRetries, backOff, type WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { NewEvent, StoreUnavailable } from '../ports/event-store.ts'

type CommandType = AdmissionCommand['type']

export interface AdmissionRequest<Type extends CommandType = CommandType> extends Origin {
  readonly command: CommandOf<AdmissionCommand, Type>
}

/** The only writer of the stream `admission` in this process. */
export interface AdmissionActor {
  /** Returns the state after the command. A command is refused only after new events were read. */
  readonly send: <Type extends CommandType>(
    request: AdmissionRequest<Type>,
  ) => Promise<Either<AdmissionRefusals[Type] | Unavailable, AdmissionState>>
  /** Returns the known state. Events of other processes are read with the next command or refresh. */
  readonly state: () => AdmissionState
  /** Reads the events of other processes. */
  readonly refresh: () => Promise<Either<Unavailable, AdmissionState>>
  /** Returns the models of each worker, as this process knows them. The actor adds them to every command. */
  readonly offering: () => Offering | undefined
  /** Resolves when all commands are answered and no snapshot is being written. */
  readonly idle: () => Promise<void>
}

const MAX_BATCH = 100
/**
 * Maximum number of attempts for one batch: the first attempt, one attempt to confirm refusals, and 40 attempts after
 * lost races. Then the batch fails with `Contended`. The number is high, because a batch loses most of its races while
 * several processes admit sessions without a pause.
 */
const MAX_ATTEMPTS = 42
/** The waits between attempts grow up to this attempt. With longer waits other processes would win more races. */
const LAST_GROWING_WAIT = 2

type AdmissionDeps = WriteDeps & {
  readonly logger: Logger
  readonly snapshotEvery?: number
  /** Absent when only one process exists. Then only memory decides which worker gets a session. */
  readonly offering?: () => Offering | undefined
}

/**
 * Keeps the state of `admission` in memory and has at most one append in flight. So 200 concurrent creates need a few
 * appends instead of thousands of conflicts. Each process may have one actor. Actors of several processes are safe,
 * because an append fails when another process has appended first.
 *
 * Rejects when the store is unavailable at the start, with its error as the cause. If the stream cannot be read,
 * commands fail and the state is that of the last snapshot.
 */
export const createAdmissionActor = async (deps: AdmissionDeps): Promise<AdmissionActor> => {
  const { offering = () => undefined } = deps
  const snapshots = createSnapshots(deps, deps.snapshotEvery ?? 200)
  const snapshot = await snapshots.last()
  let cursor = snapshot ?? { state: admissionDecider.initialState, revision: -1 }
  /** False when the stream must be read before the next decision, for example after an append with unknown outcome. */
  let isCurrent = true
  let queue: ReadonlyArray<WaitingCommand> = []
  let running: Promise<void> | null = null

  /** Reads and folds new events. Returns their ids, which show whether an append with unknown outcome succeeded. */
  const readTail = async (): Promise<Either<Unavailable, ReadonlyArray<string>>> => {
    const base = cursor
    const stored = await deps.store.read(ADMISSION_STREAM, { from: base.revision + 1 })
    if (E.isLeft(stored)) return stored
    const opened = await openEvents(deps.keyring)(stored.right)
    if (E.isLeft(opened)) return opened
    const revision = stored.right.at(-1)?.revision ?? base.revision
    const state = fold(admissionDecider, opened.right as ReadonlyArray<AdmissionEvent>, base.state)
    if (revision > cursor.revision) cursor = { state, revision }
    return E.right(stored.right.map((event) => event.id))
  }

  const toNewEvents = async (
    decided: ReturnType<typeof decideAll>['events'],
  ): Promise<Either<Unavailable, ReadonlyArray<NewEvent>>> =>
    pipe(
      await sealEvents(deps.keyring, ADMISSION_STREAM)(decided.map(({ event }) => event)),
      E.map((sealed) => {
        const recordedAt = deps.environment.now()
        return RA.zipWith(decided, sealed, ({ origin: { correlationId, commandId, actor } }, event) => ({
          ...event,
          id: deps.environment.newId(),
          metadata: { correlationId, causationId: commandId, actor, recordedAt },
        }))
      }),
    )

  /** Decides and appends a batch. Returns the answers of all commands that fit into the append. */
  const settle = async (batch: ReadonlyArray<WaitingCommand>): Promise<ReadonlyArray<Answer>> => {
    const failAll = (failure: Unavailable): ReadonlyArray<Answer> => batch.map(({ refuse }) => () => refuse(failure))
    /** True once new events were read, so a refusal is based on the current state. */
    let isConfirmed = false
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (!isCurrent) {
        const tail = await readTail()
        if (E.isLeft(tail)) return failAll(tail.left)
        isCurrent = true
        isConfirmed = true
      }
      const { revision } = cursor
      const common = { offering: offering(), at: storeInstant(deps.store) }
      const { state, events, answers } = decideAll(cursor.state, batch, common)
      if (events.length === 0) {
        if (isConfirmed) return answers
        // All commands were refused, but another process may have released memory. So the stream is read first.
        isCurrent = false
        continue
      }
      const newEvents = await toNewEvents(events)
      if (E.isLeft(newEvents)) return failAll(newEvents.left)
      const expected = revision < 0 ? 'no-stream' : revision
      const appended = await appendWithRetries(deps, ADMISSION_STREAM, expected, newEvents.right)
      if (E.isRight(appended)) {
        if (appended.right.revision > cursor.revision) cursor = { state, revision: appended.right.revision }
        return answers
      }
      isCurrent = false
      const tail = await readTail()
      if (E.isRight(tail)) {
        isCurrent = true
        isConfirmed = true
        if (newEvents.right.some((event) => tail.right.includes(event.id))) return answers
      }
      if (appended.left._tag === 'StoreUnavailable') return failAll(appended.left)
      await backOff(deps, Math.min(attempt, LAST_GROWING_WAIT))
    }
    return failAll({ _tag: 'Contended', stream: ADMISSION_STREAM })
  }

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH)
      let settledCount = batch.length
      try {
        const answers = await settle(batch)
        settledCount = answers.length
        for (const answer of answers) answer()
      } catch (defect) {
        // The commands of this batch fail with the defect. The queue continues.
        isCurrent = false
        for (const { fail } of batch) fail(defect)
      }
      queue = queue.slice(settledCount)
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
  // After a failed read each command reads again, and fails as long as the read fails.
  isCurrent = E.isRight(first)

  return {
    send: <Type extends CommandType>(
      { command, ...origin }: AdmissionRequest<Type>,
    ): Promise<Either<AdmissionRefusals[Type] | Unavailable, AdmissionState>> => new Promise((resolve, fail) => {
        // The correlation id is read here, because a batch runs in the context of its first request.
        const correlationId = deps.environment.correlationId() ?? origin.correlationId
        const decide: WaitingCommand['decide'] = (before, about) => {
          const decided = admissionDecider.decide<Type>({ ...about, ...command }, before)
          if (E.isLeft(decided)) return { events: [], state: before, answer: () => resolve(E.left(decided.left)) }
          const state = fold(admissionDecider, decided.right, before)
          return { events: decided.right, state, answer: () => resolve(E.right(state)) }
        }
        const refuse = (failure: Unavailable): void => resolve(E.left(failure))
        queue = [...queue, { origin: { ...origin, correlationId }, decide, refuse, fail }]
        // Starts in a microtask, so commands that are sent in one turn of the event loop share a batch.
        running ??= Promise.resolve().then(drain)
      }),
    state: () => cursor.state,
    offering,
    refresh: async () => pipe(await readTail(), E.map(() => cursor.state)),
    idle,
  }
}

const isStoreUnavailable = (cause: unknown): cause is StoreUnavailable =>
  (cause as Partial<StoreUnavailable> | undefined)?._tag === 'StoreUnavailable'

/** Like `createAdmissionActor`, but returns an unavailable store as a left value, so the caller can retry. */
export const openAdmission = async (deps: AdmissionDeps): Promise<Either<StoreUnavailable, AdmissionActor>> => {
  try {
    return E.right(await createAdmissionActor(deps))
  } catch (error) {
    if (error instanceof Error && isStoreUnavailable(error.cause)) return E.left(error.cause)
    throw error
  }
}
