import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 500

/** Whether the event store answers, asked again and again until the signal: readiness cannot wait for it. */
export const watchStore = ({ store, timers, signal }: { readonly store: Pick<EventStore, 'head'>; readonly timers: Timers; readonly signal: AbortSignal }) => {
  let isAnswering = true
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      isAnswering = E.isRight(await store.head()())
      await pause(timers, INTERVAL_MS, signal)
    }
  }
  return { isAnswering: (): boolean => isAnswering, stopped: watch() }
}
