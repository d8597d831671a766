import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'

const INTERVAL_MS = 1000

interface WatchDeps {
  readonly store: Pick<EventStore, 'head'>
  readonly logger: Logger
  readonly timers: Timers
  readonly signal: AbortSignal
}

/**
 * Whether the event store answers, asked again and again until the signal: readiness cannot wait for it. One that ends
 * before what it has shown holds an older copy of the log, and counts as away.
 */
export const watchStore = ({ store, logger, timers, signal }: WatchDeps) => {
  let isAnswering = true
  let furthest = BEGINNING
  const look = async (): Promise<boolean> => {
    const head = await store.head()()
    if (E.isLeft(head)) return false
    const isOlder = head.right < furthest
    if (isOlder && isAnswering) logger.error({ end: head.right, furthest }, 'the log is an older copy of what it was')
    if (!isOlder) furthest = head.right
    return !isOlder
  }
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      isAnswering = await look()
      await pause(timers, INTERVAL_MS, signal)
    }
  }
  return { isAnswering: (): boolean => isAnswering, stopped: watch() }
}
