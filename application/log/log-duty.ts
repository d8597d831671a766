import { orThrow } from '../../domain/shared/or-throw.ts'
import { isHurt } from '../errors.ts'
import { whyUnreadable } from './event-serialization.ts'
import type { Checkpoint, Documents } from '../ports/documents.ts'
import type { HeldLease, Leases } from '../ports/peers/leases.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, StoredEvent } from '../ports/event-store.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

export interface LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly documents: Pick<Documents, 'checkpoint' | 'commit'>
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly logger: Logger
  readonly timers: Timers
  /** Of what one process at a time does; absent where there is no other. */
  readonly leases?: Pick<Leases, 'hold'> | undefined
}

export interface LogDuty {
  /**
   * Names its checkpoint: every event up to there that concerns it has been dealt with. It stays where something was
   * passed over, so that the next start tries that again, and all behind it.
   */
  readonly name: string
  readonly prefixes: ReadonlyArray<string>
  readonly concerns: (event: StoredEvent) => boolean
  /** Repeatable; what it throws is tried again from the checkpoint. */
  readonly perform: (event: StoredEvent, signal: AbortSignal) => Promise<void>
  /** Logged when it has to be tried again. */
  readonly failure: string
}

export interface RunningDuty {
  readonly stop: () => Promise<void>
}

const RETRY = { first: 500, longest: 30_000 }

const isAboutHurt = (error: unknown): boolean => {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && '_tag' in cause && isHurt({ _tag: String(cause._tag) })
}

const whose = ({ name }: LogDuty) => ({ projection: name, collection: null })

/** So many events, or milliseconds, pass before the checkpoint follows: a restart passes them again. */
const SAVED_EVERY = { events: 500, ms: 5000 }

/** How far a process has come since it does the duty. */
interface Reached {
  /** Of its lease. */
  readonly token: number
  /** Null until it was read. */
  checkpoint: Checkpoint | null
  /** Events since the checkpoint was written, and when that was. */
  unsaved: number
  savedAt: number
  /** Something was passed over: the checkpoint stays before it. */
  isIncomplete: boolean
}

/**
 * What asks for data that cannot be read is passed over: trying again heals nothing now, and later events wait. Answers
 * whether it was done.
 */
const performUnlessHurt = async (
  { logger }: LogDutyDeps,
  duty: LogDuty,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<boolean> => {
  try {
    await duty.perform(event, signal)
    return true
  } catch (error) {
    if (!isAboutHurt(error)) throw error
    const { stream, revision } = event
    logger.error({ err: error, stream, revision }, `${duty.failure}: not this one, its data cannot be read`)
    return false
  }
}

/** Takes over how far it has come; the checkpoint follows at once, or now and then where nothing was done. */
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
    orThrow(await documents.commit(whose(duty), [], checkpoint, reached.token)())
    reached.unsaved = 0
    reached.savedAt = environment.monotonic()
  }
  reached.checkpoint = checkpoint
}

const follow = async (deps: LogDutyDeps, duty: LogDuty, reached: Reached, signal: AbortSignal): Promise<void> => {
  reached.checkpoint ??= orThrow(await deps.documents.checkpoint(whose(duty))())
  let { last } = reached.checkpoint
  for await (const message of deps.store.subscribe(reached.checkpoint.position, duty.prefixes, signal)) {
    // Nobody knows what stood there.
    if (message.kind === 'damaged' || (message.kind === 'event' && whyUnreadable(message.event) !== null))
      reached.isIncomplete = true
    if (message.kind !== 'event') {
      await save(deps, duty, reached, { position: message.position, last }, false)
      continue
    }
    const isConcerned = duty.concerns(message.event)
    if (isConcerned && !(await performUnlessHurt(deps, duty, message.event, signal))) reached.isIncomplete = true
    if (signal.aborted) return
    const { position, stream, revision, id } = message.event
    last = { stream, revision, id }
    await save(deps, duty, reached, { position, last }, isConcerned)
  }
}

/** From the checkpoint on, until the lease is lost or given back. */
const runDuty = async (deps: LogDutyDeps, duty: LogDuty, { token, signal }: HeldLease): Promise<void> => {
  const reached: Reached = {
    token, checkpoint: null, unsaved: 0, savedAt: deps.environment.monotonic(), isIncomplete: false,
  }
  let attempt = 0
  while (!signal.aborted) {
    const before = reached.checkpoint?.position
    try {
      await follow(deps, duty, reached, signal)
    } catch (error) {
      deps.logger.warn({ err: error, attempt }, duty.failure)
    }
    if (reached.checkpoint?.position !== before) attempt = 0
    // Also when the subscription merely ended: a store that ends each at once must not keep the process busy.
    await pause(deps.timers, retryDelay(RETRY, attempt++, deps.environment.random()), signal)
  }
}

/** Under which one process at a time does a duty. */
export const dutyLease = (name: string): string => `duty:${name}`

/**
 * Does what events ask for, one after another in their order, until stopped; after a restart, and in the process that
 * takes it over, it goes on from its checkpoint.
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
