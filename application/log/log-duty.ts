import { orThrow } from '../../domain/shared/or-throw.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { isUnreadable } from '../errors.ts'
import { whyUnreadable } from './event-serialization.ts'
import type { Checkpoint, Documents } from '../ports/documents.ts'
import type { HeldLease, Leases } from '../ports/peers/leases.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, StoredEvent } from '../ports/event-store.ts'
import { createOutage } from '../outages.ts'
import type { Outage } from '../outages.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe'>
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
  /** Name prefixes of the streams to read. */
  readonly prefixes: ReadonlyArray<string>
  /** Returns whether the event needs work. */
  readonly concerns: (event: StoredEvent) => boolean
  /** Does the work. It may be called again for the same event. When it throws, the duty retries from this event. */
  readonly perform: (event: StoredEvent, signal: AbortSignal) => Promise<void>
  /** Log message while attempts fail. */
  readonly failure: string
}

export interface RunningDuty {
  readonly stop: () => Promise<void>
}

const RETRY = { first: 500, longest: 30_000 }

const isCausedByUnreadableData = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && '_tag' in cause && isUnreadable({ _tag: String(cause._tag) })
}

const checkpointOwner = ({ name }: LogDuty) => ({ projection: name, collection: null })

/** The checkpoint of events without work is written after this many events or milliseconds. */
const SAVED_EVERY = { events: 500, ms: 5000 }

/** Progress of this process with a duty. */
interface Reached {
  /** Fencing token of the lease. The documents refuse a checkpoint with a token lower than the last one. */
  readonly token: number
  /** Null until it is read. */
  checkpoint: Checkpoint | null
  /** Number of events after the last written checkpoint. */
  unsaved: number
  /** When the checkpoint was last written (monotonic time). */
  savedAt: number
  /** True once an event was skipped. Then the stored checkpoint may not move. */
  isIncomplete: boolean
  readonly outage: Outage
}

/**
 * Does the work for one event. Returns whether the work is done. An event whose data cannot be read is skipped, because
 * a retry does not help and would block all later events.
 */
const performIfReadable = async (
  { logger }: LogDutyDeps,
  duty: LogDuty,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<boolean> => {
  try {
    await duty.perform(event, signal)
    return true
  } catch (error) {
    if (!isCausedByUnreadableData(error)) throw error
    const { stream, revision } = event
    logger.error({ err: error, stream, revision }, `${duty.failure}: skipped, because its data cannot be read`)
    return false
  }
}

/** Records progress, and writes the checkpoint if `atOnce` or if a write is due. */
const save = async (
  { documents, environment }: LogDutyDeps,
  duty: LogDuty,
  reached: Reached,
  checkpoint: Checkpoint,
  atOnce: boolean,
): Promise<void> => {
  reached.unsaved += 1
  const isDue = reached.unsaved >= SAVED_EVERY.events || environment.monotonic() - reached.savedAt >= SAVED_EVERY.ms
  if (!reached.isIncomplete && (atOnce || isDue)) {
    orThrow(await documents.commit(checkpointOwner(duty), [], checkpoint, reached.token)())
    reached.unsaved = 0
    reached.savedAt = environment.monotonic()
  }
  reached.checkpoint = checkpoint
  reached.outage.ended()
}

const follow = async (deps: LogDutyDeps, duty: LogDuty, reached: Reached, signal: AbortSignal): Promise<void> => {
  reached.checkpoint ??= orThrow(await deps.documents.checkpoint(checkpointOwner(duty))())
  let { last } = reached.checkpoint
  for await (const message of deps.store.subscribe(reached.checkpoint.position, duty.prefixes, signal)) {
    // The unreadable event may need work, which is not done.
    if (message.kind === 'damaged' || (message.kind === 'event' && whyUnreadable(message.event) !== null))
      reached.isIncomplete = true
    if (message.kind !== 'event') {
      await save(deps, duty, reached, { position: message.position, last }, false)
      continue
    }
    const isConcerned = duty.concerns(message.event)
    if (isConcerned && !(await performIfReadable(deps, duty, message.event, signal))) reached.isIncomplete = true
    if (signal.aborted) return
    const { position, stream, revision, id } = message.event
    last = { stream, revision, id }
    await save(deps, duty, reached, { position, last }, isConcerned)
  }
}

/** Runs a duty from its checkpoint until the lease is lost or released. */
const runDuty = async (deps: LogDutyDeps, duty: LogDuty, { token, signal }: HeldLease): Promise<void> => {
  const reached: Reached = {
    token, checkpoint: null, unsaved: 0, savedAt: deps.environment.monotonic(), isIncomplete: false,
    outage: createOutage(deps, duty.failure, `the duty ${duty.name} works again`),
  }
  let attempt = 0
  while (!signal.aborted) {
    const before = reached.checkpoint?.position
    try {
      await follow(deps, duty, reached, signal)
    } catch (error) {
      reached.outage.failed(messageOf(error), { err: error })
    }
    if (reached.checkpoint?.position !== before) attempt = 0
    // Pauses also after a subscription that ended without an error, so repeated ends cause no busy loop.
    await pause(deps.timers, retryDelay(RETRY, attempt++, deps.environment.random()), signal)
  }
}

/** Name of the lease with which only one process at a time runs a duty. */
export const dutyLease = (name: string): string => `duty:${name}`

/**
 * Runs a duty: it does its work for each event in the order of the log until it is stopped. After a restart, or in
 * another process, it continues from the checkpoint.
 */
export const startLogDuty = (deps: LogDutyDeps, duty: LogDuty): RunningDuty => {
  const work = (held: HeldLease): Promise<void> => runDuty(deps, duty, held)
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
