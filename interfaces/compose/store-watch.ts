import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 500

interface Monitoring {
  readonly store: Pick<EventStore, 'head'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** Checks regularly whether the event store answers, so readiness does not have to wait for it. */
export const monitorStore = ({ store, timers, signal }: Monitoring) => {
  let isAnswering = true
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      isAnswering = E.isRight(await store.head()())
      await pause(timers, INTERVAL_MS, signal)
    }
  }
  return { isAnswering: (): boolean => isAnswering, stopped: watch() }
}
