import * as E from 'fp-ts/lib/Either.js'
import { type StoreClock, watchClocks } from '../../application/clock-skew.ts'
import { createOutage } from '../../application/outages.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 500

type Sentences = Pick<StoreClock, 'ahead' | 'behind'>

const SERVER: Sentences = {
  ahead: "the server's clock is ahead: synchronise both (NTP)",
  behind: "the server's clock is behind: synchronise both (NTP)",
}
/** The clock of the embedded log starts with the machine's clock or with the newest event, and counts evenly. */
const EMBEDDED_LOG: Sentences = {
  ahead: 'the event log is ahead: its newest event lies ahead, or the clock of this machine was set back',
  behind: 'the event log is behind: the clock of this machine was set ahead, or the machine slept',
}

interface Monitoring {
  readonly store: Pick<EventStore, 'head' | 'now'>
  /** Returns why MongoDB is unavailable, or null. */
  readonly unreachable: () => string | null
  readonly isLogEmbedded: boolean
  /** Milliseconds by which MongoDB's clock is ahead of this machine's. Null without MongoDB. */
  readonly mongoSkewMs: (() => number) | null
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic' | 'now'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

export interface StoreWatch {
  readonly isAnswering: () => boolean
  readonly clocks: ReturnType<typeof watchClocks>
  /** Resolves after the signal has aborted. */
  readonly stopped: Promise<void>
}

/**
 * Checks regularly whether the event store answers, so readiness does not have to wait for it. Logs when a store is
 * lost, with its cause, and when it is back. Compares their clocks with this machine's.
 */
export const monitorStores = (deps: Monitoring): StoreWatch => {
  const { store, unreachable, mongoSkewMs, environment, timers, signal } = deps
  const log = createOutage(deps, 'the event store does not answer', 'the event store answers again')
  const readModels = createOutage(deps, 'MongoDB does not answer', 'MongoDB answers again')
  const logSkewMs = (): number => store.now() - Date.parse(environment.now())
  const clocks = watchClocks({
    ...deps,
    clocks: [
      { store: 'event_store', skewMs: logSkewMs, ...(deps.isLogEmbedded ? EMBEDDED_LOG : SERVER) },
      ...(mongoSkewMs === null ? [] : [{ store: 'mongodb', skewMs: mongoSkewMs, ...SERVER } as const]),
    ],
  })
  let isAnswering = true
  const watch = async (): Promise<void> => {
    for (;;) {
      const head = await store.head()
      if (signal.aborted) return
      isAnswering = E.isRight(head)
      if (E.isLeft(head)) log.failed(head.left.reason)
      else log.ended()
      const problem = unreachable()
      if (problem !== null) readModels.failed(problem)
      else readModels.ended()
      clocks.check()
      await pause(timers, INTERVAL_MS, signal)
    }
  }
  return { isAnswering: () => isAnswering, clocks, stopped: watch() }
}
