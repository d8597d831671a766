import * as E from 'fp-ts/lib/Either.js'
import type { Checkpoint, Documents } from '../../application/ports/documents.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, Position } from '../../application/ports/event-store.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause, retryDelay } from '../../application/waiting.ts'
import { type RecentDocuments, recentOf } from '../apply.ts'
import { type Batch, inBatches } from '../batches.ts'
import { BATCH_SIZE } from '../fold-log.ts'
import { requireSameLog } from '../older-log.ts'
import { lastOf } from '../projection.ts'
import { createBatchWriter } from './batch-writer.ts'
import { createCatchUp } from './catch-up.ts'
import { type List, reportFailure, reportSuccess } from './list.ts'
import { foldStep, type Step } from './steps.ts'

export interface LogReadDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Pick<Documents, 'find' | 'commitAll'>
  /** Name prefixes of the streams that all lists subscribe to. */
  readonly prefixes: ReadonlyArray<string>
  readonly logger: Logger
  readonly environment: Pick<Environment, 'monotonic' | 'random'>
  readonly timers: Timers
}

interface Watcher {
  /** Called when all known events are in the documents, and nothing is being written. */
  readonly onRest: () => void
  /** Called for a list that left because it keeps failing while others succeed. */
  readonly onDismissed: (list: List) => void
  /** Called when the last list has left. */
  readonly onEnd: () => void
}

/**
 * One read of the log, for all lists that have reached the same event. A list that keeps failing while others succeed
 * leaves it, so that it delays no other list: at once while writers wait for it, else after some attempts
 * (`batch-writer.ts`).
 */
export interface LogRead {
  readonly lists: () => ReadonlyArray<List>
  /** Events up to this position have been read, and perhaps are being written. */
  readonly begun: () => Position
  /** Adds a list that has applied all events up to `begun`. */
  readonly add: (list: List) => void
  /** Takes a list out at once. Resolves when none of its writes is under way. The read ends with its last list. */
  readonly remove: (list: List) => Promise<void>
}

/**
 * The checkpoints are written after this many events or milliseconds even if no document changed. During a long session
 * the log may grow only by events without documents, and a restart would read them all again.
 */
const SAVED_EVERY = { events: 500, ms: 5000 }
/** Milliseconds. The waits are short, because the service is ready only when its lists work. */
const RETRY = { first: 20, longest: 1000 }

const hasWork = ({ changes }: Step): boolean => E.isLeft(changes) || changes.right.length > 0

/** Reads the log for `lists`, which have all reached `from`. While a batch is written, the next is read and folded. */
export const startLogRead = (
  deps: LogReadDeps, lists: ReadonlyArray<List>, from: Checkpoint, { onRest, onDismissed, onEnd }: Watcher,
): LogRead => {
  const { store, documents, prefixes, logger, environment, timers } = deps
  const members = new Set(lists)
  const ending = new AbortController()
  const { signal } = ending
  let reached = from
  let begun = from.position
  let unsaved = 0
  let savedAt = environment.monotonic()

  const take = (list: List): void => {
    members.delete(list)
    if (members.size > 0 || signal.aborted) return
    ending.abort()
    onEnd()
  }
  const dismiss = (list: List): void => {
    take(list)
    onDismissed(list)
  }
  const writer = createBatchWriter({ documents, logger, environment, timers, members, signal, dismiss })

  /** Commits the steps, or only remembers how far they got if no document changed and no checkpoint is due. */
  const write = async (steps: ReadonlyArray<Step>, batch: Batch, isAwaited: boolean): Promise<void> => {
    const to = { position: batch.position, last: lastOf(batch.events, reached.last) }
    unsaved += batch.events.length
    const isDue = unsaved >= SAVED_EVERY.events || environment.monotonic() - savedAt >= SAVED_EVERY.ms
    if (steps.some(hasWork) || (isDue && to.position !== reached.position)) {
      await writer.write(steps, to, isAwaited)
      ;[unsaved, savedAt] = [0, environment.monotonic()]
    } else {
      for (const { list } of steps) {
        if (!members.has(list)) continue
        list.applied = to
        list.report.reached(to.position)
      }
    }
    reached = to
  }

  const consume = async (onBatch: () => void): Promise<void> => {
    const catchUp = await createCatchUp({ store, logger, environment, lists: () => [...members] })
    const recent = new Map<List, RecentDocuments>()
    let writing: Promise<void> = Promise.resolve()
    let hasCaughtUp = false
    let isFar = false
    try {
      for await (const batch of inBatches(store.subscribe(reached.position, prefixes, signal), BATCH_SIZE)) {
        begun = batch.position
        for (const { report } of members) report.working()
        hasCaughtUp ||= batch.caughtUp
        isFar ||= batch.isFull && !hasCaughtUp
        if (isFar) catchUp.reached(reached.position)
        // A list that joined later may be ahead of this batch.
        const behind = [...members].filter(({ applied }) => applied.position < batch.position)
        const steps = await Promise.all(behind.map((list) =>
          foldStep(documents, list, batch.events, recent.get(list))))
        await writing
        if (signal.aborted) return
        for (const { list, changes } of steps) recent.set(list, recentOf(E.isRight(changes) ? changes.right : []))
        writing = write(steps, batch, hasCaughtUp).then(() => {
          if (isFar) catchUp.reached(reached.position)
        })
        onBatch()
        // The next fold needs the documents of a step that must be folded again.
        if (hasCaughtUp || steps.some(({ changes }) => E.isLeft(changes))) {
          await writing
          recent.clear()
        } else {
          writing.catch(() => undefined)
        }
        if (signal.aborted || !hasCaughtUp) continue
        isFar = false
        catchUp.done()
        // A list at rest works, also when no commit says so, because nothing was written since a failure.
        for (const list of members) {
          reportSuccess(list)
          list.report.resting()
        }
        onRest()
      }
    } finally {
      await writing
    }
  }

  const run = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        if (attempt > 0) await requireSameLog(store, reached)
        await consume(() => {
          attempt = 0
        })
        throw new Error('the subscription ended')
      } catch (error) {
        if (signal.aborted) return
        for (const list of members) reportFailure(list, error)
        await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
      }
    }
  }
  void run()

  return {
    lists: () => [...members],
    begun: () => begun,
    add: (list) => void members.add(list),
    remove: async (list) => {
      take(list)
      await writer.settled()
    },
  }
}
