import { orThrow } from '../../domain/shared/or-throw.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { type AgeOf, createAges } from '../ages.ts'
import { createSlots } from '../concurrency.ts'
import { isUnreadable } from '../refusals.ts'
import { createOutage } from '../outages.ts'
import type { Checkpoint, Documents } from '../ports/documents.ts'
import type { HeldLease, Leases } from '../ports/leases.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, StoredEvent, SubscriptionMessage } from '../ports/event-store.ts'
import type { Timers } from '../ports/timers.ts'
import { createWakeUp, pause, retryDelay } from '../waiting.ts'
import { createDutyQueue, type DutyQueue, type Waiting } from './duty-queue.ts'
import { whyUnreadable } from './event-serialization.ts'

export interface LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'now'>
  readonly documents: Pick<Documents, 'checkpoint' | 'commit'>
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly logger: Logger
  readonly timers: Timers
  /** Absent when this process is the only one. */
  readonly leases?: Pick<Leases, 'hold'> | undefined
}

/** A background task that must do some work for each event of some kind. */
export interface LogDuty {
  /**
   * Also the name of the checkpoint, which is the position up to which all work is done. The checkpoint stays before a
   * skipped event, so the next start tries that event and all later events again.
   */
  readonly name: string
  readonly prefixes: ReadonlyArray<string>
  /** Returns whether the event needs work. When it throws, the duty asks again. */
  readonly concerns: (event: StoredEvent) => boolean | Promise<boolean>
  /** The work begins when the event is this many milliseconds old. Events do not wait for each other. Default: 0. */
  readonly afterMs?: number
  /** Does the work. It may be called again for the same event. When it throws, the duty tries again. */
  readonly perform: (event: StoredEvent) => Promise<void>
  /** Log message while attempts fail. */
  readonly failure: string
}

export interface RunningDuty {
  readonly stop: () => Promise<void>
}

const RETRY = { first: 500, longest: 30_000 }
/** Events that may wait at the same time. Further events are read when the first ones are done. */
const MAX_WAITING = 10_000

const isCausedByUnreadableData = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && '_tag' in cause && isUnreadable({ _tag: String(cause._tag) })
}

const checkpointOwner = ({ name }: LogDuty) => ({ projection: name, collection: null })

/** The checkpoint of events without work is written after this many events or milliseconds. */
const SAVED_EVERY = { events: 500, ms: 5000 }

/** Returns functions that write the checkpoint of a duty. */
const createSaving = ({ documents, environment }: LogDutyDeps, duty: LogDuty, { token }: HeldLease) => {
  const inTurn = createSlots(1)
  let unsaved = 0
  let savedAt = environment.monotonic()
  let saved: Checkpoint | null = null
  /** The documents refuse the checkpoint when a later holder of the lease has written one. */
  const save = (queue: DutyQueue): Promise<void> =>
    inTurn(async () => {
      const done = queue.done()
      if (done !== saved) orThrow(await documents.commit(checkpointOwner(duty), [], done, token))
      saved = done
      unsaved = 0
      savedAt = environment.monotonic()
    })
  return {
    save,
    saveIfDue: async (queue: DutyQueue): Promise<void> => {
      unsaved += 1
      if (unsaved >= SAVED_EVERY.events || environment.monotonic() - savedAt >= SAVED_EVERY.ms) await save(queue)
    },
  }
}

/** Runs a duty from its checkpoint until the lease is lost or released. */
const runDuty = async (deps: LogDutyDeps, duty: LogDuty, ageOf: AgeOf, held: HeldLease): Promise<void> => {
  const { environment: { monotonic, random }, documents, logger, store, timers } = deps
  const { signal } = held
  const { save, saveIfDue } = createSaving(deps, duty, held)
  const [workAdded, workDone] = [createWakeUp(timers), createWakeUp(timers)]
  for (const { wake } of [workAdded, workDone]) signal.addEventListener('abort', wake, { once: true })
  const outageOf = () => createOutage(deps, duty.failure, `the duty ${duty.name} works again`)
  const [reading, working] = [outageOf(), outageOf()]
  const backOff = (attempt: number): Promise<void> => pause(timers, retryDelay(RETRY, attempt, random()), signal)

  /** Returns undefined for an event whose data cannot be read. A retry does not help, so the event is skipped. */
  const ifReadable = async <A>(event: StoredEvent, work: () => A): Promise<Awaited<A> | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!isCausedByUnreadableData(error)) throw error
      const { stream, revision } = event
      logger.error({ err: error, stream, revision }, `${duty.failure}: skipped, because its data cannot be read`)
      return undefined
    }
  }

  const receive = async (queue: DutyQueue, message: SubscriptionMessage): Promise<void> => {
    if (message.kind !== 'event') {
      if (message.kind === 'damaged') queue.skip()
      queue.add({ position: message.position, last: queue.read().last })
    } else {
      const { event } = message
      const { position, stream, revision, id, storedAt } = event
      const due = monotonic() + Math.max(0, (duty.afterMs ?? 0) - ageOf(position, storedAt))
      const isConcerned = await ifReadable(event, () => duty.concerns(event))
      // An event that this version cannot read may need work, which is not done.
      if (isConcerned === undefined || whyUnreadable(event) !== null) queue.skip()
      const waiting = isConcerned === true ? { event, due } : undefined
      queue.add({ position, last: { stream, revision, id } }, waiting)
      if (waiting !== undefined && queue.next() === waiting) workAdded.wake()
    }
    await saveIfDue(queue)
    while (queue.size() >= MAX_WAITING && !signal.aborted) await workDone.wait(Infinity)
  }

  const follow = async (queue: DutyQueue): Promise<void> => {
    let attempt = 0
    while (!signal.aborted) {
      try {
        for await (const message of store.subscribe(queue.read().position, duty.prefixes, signal)) {
          await receive(queue, message)
          reading.ended()
          attempt = 0
        }
      } catch (error) {
        reading.failed(messageOf(error), { err: error })
      }
      // Pauses also after a subscription that ended without an error, so repeated ends cause no busy loop.
      await backOff(attempt++)
    }
  }

  const perform = async (queue: DutyQueue, waiting: Waiting): Promise<void> => {
    const isDone = await ifReadable(waiting.event, async () => {
      await duty.perform(waiting.event)
      return true
    })
    if (isDone === true) queue.complete(waiting)
    else queue.skip(waiting)
    workDone.wake()
    await save(queue)
  }

  const work = async (queue: DutyQueue): Promise<void> => {
    let attempt = 0
    while (!signal.aborted) {
      const next = queue.next()
      const waitMs = next === null ? Infinity : next.due - monotonic()
      const isWoken = waitMs > 0 && (await workAdded.wait(waitMs))
      if (next === null || isWoken) continue
      try {
        await perform(queue, next)
        attempt = 0
        working.ended()
      } catch (error) {
        working.failed(messageOf(error), { err: error })
        // The other events that are due come first.
        queue.postpone(next, monotonic())
        await backOff(attempt++)
      }
    }
  }

  const readCheckpoint = async (): Promise<Checkpoint | null> => {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        return orThrow(await documents.checkpoint(checkpointOwner(duty)))
      } catch (error) {
        reading.failed(messageOf(error), { err: error })
        await backOff(attempt)
      }
    }
    return null
  }

  const checkpoint = await readCheckpoint()
  if (checkpoint === null) return
  const queue = createDutyQueue(checkpoint)
  await Promise.all([follow(queue), work(queue)])
}

/** Name of the lease with which only one process at a time runs a duty. */
export const dutyLease = (name: string): string => `duty:${name}`

/**
 * Runs a duty until it is stopped: it does its work for each event of the log. After a restart, or in another process,
 * it continues from the checkpoint.
 */
export const startLogDuty = (deps: LogDutyDeps, duty: LogDuty): RunningDuty => {
  const ageOf = createAges(deps)
  const work = (held: HeldLease): Promise<void> => runDuty(deps, duty, ageOf, held)
  if (deps.leases !== undefined) return deps.leases.hold(dutyLease(duty.name), work)
  const controller = new AbortController()
  const running = work({ token: 0, signal: controller.signal })
  return {
    stop: async () => {
      controller.abort()
      await running
    },
  }
}
