import * as E from 'fp-ts/lib/Either.js'
import { createOutage } from '../../application/outages.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 500

interface Monitoring {
  readonly store: Pick<EventStore, 'head'>
  /** Returns why MongoDB is unavailable, or null. */
  readonly unreachable: () => string | null
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

/**
 * Checks regularly whether the event store answers, so readiness does not have to wait for it. Logs when a store is
 * lost, with its cause, and when it is back.
 */
export const monitorStores = (deps: Monitoring) => {
  const { store, unreachable, timers, signal } = deps
  const log = createOutage(deps, 'the event store does not answer', 'the event store answers again')
  const readModels = createOutage(deps, 'MongoDB does not answer', 'MongoDB answers again')
  let isAnswering = true
  const watch = async (): Promise<void> => {
    for (;;) {
      const head = await store.head()()
      if (signal.aborted) return
      isAnswering = E.isRight(head)
      if (E.isLeft(head)) log.failed(head.left.reason)
      else log.ended()
      const problem = unreachable()
      if (problem !== null) readModels.failed(problem)
      else readModels.ended()
      await pause(timers, INTERVAL_MS, signal)
    }
  }
  return { isAnswering: (): boolean => isAnswering, stopped: watch() }
}
