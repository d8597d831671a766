import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from './errors.ts'
import type { Documents } from './ports/documents.ts'
import type { Environment, Logger } from './ports/environment.ts'
import type { EventStore, StoredEvent } from './ports/event-store.ts'
import { pause, retryDelay } from './ports/timers.ts'
import type { Timers } from './ports/timers.ts'

export interface LogDutyDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly documents: Pick<Documents, 'checkpoint' | 'commit'>
  readonly environment: Pick<Environment, 'random'>
  readonly logger: Logger
  readonly timers: Timers
}

export interface LogDuty {
  /** Names its checkpoint: every event up to there that concerns it has been dealt with. */
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

/** For steps of a duty: its runner logs what was refused and tries again. */
export const orThrow = <A>(result: Either<Unavailable, A>): A => {
  if (E.isRight(result)) return result.right
  throw new Error(result.left._tag, { cause: result.left })
}

const follow = async (deps: LogDutyDeps, duty: LogDuty, signal: AbortSignal, onProgress: () => void): Promise<void> => {
  const from = orThrow(await deps.documents.checkpoint(duty.name)())
  for await (const message of deps.store.subscribe(from, duty.prefixes, signal)) {
    if (message.kind !== 'event' || !duty.concerns(message.event)) continue
    await duty.perform(message.event, signal)
    if (signal.aborted) return
    // Written at these events alone: what lies between two of them is quickly passed again after a restart.
    orThrow(await deps.documents.commit(duty.name, [], message.event.position)())
    onProgress()
  }
}

/** Does what events ask for, one after another in their order, until stopped; after a restart it goes on from its checkpoint. */
export const startLogDuty = (deps: LogDutyDeps, duty: LogDuty): RunningDuty => {
  const controller = new AbortController()
  const { signal } = controller

  const run = async (): Promise<void> => {
    let attempt = 0
    while (!signal.aborted) {
      try {
        await follow(deps, duty, signal, () => { attempt = 0 })
      } catch (error) {
        deps.logger.warn({ err: error, attempt }, duty.failure)
      }
      // Also when the subscription merely ended: a store that ends each at once must not keep the process busy.
      await pause(deps.timers, retryDelay(RETRY, attempt++, deps.environment.random()), signal)
    }
  }

  const running = run()
  return {
    stop: async () => {
      controller.abort()
      await running
    },
  }
}
