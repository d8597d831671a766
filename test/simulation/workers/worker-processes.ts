import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoredEvent, SubscriptionMessage } from '../../../application/ports/event-store.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'

/** For each fault, the fraction of all appends that have it (0 to 1). */
export interface AppendFaults {
  /** The append is answered as unavailable and happens later. */
  readonly late: number
  /** The append happens and is answered as unavailable. */
  readonly lost: number
  /** The append happens twice. */
  readonly doubled: number
}

export const NO_FAULTS: AppendFaults = { late: 0, lost: 0, doubled: 0 }

/** A process whose reads, appends, messages and timers happen when the simulation picks them, or never. */
export interface SimulatedWorkerProcess {
  readonly store: EventStore
  readonly timers: Timers
  readonly freeze: (isFrozen: boolean) => void
  readonly kill: () => void
  readonly isFrozen: () => boolean
  readonly isDead: () => boolean
}

const UNAVAILABLE = { _tag: 'StoreUnavailable', reason: 'simulated' } as const

/** Simulates processes on one log in virtual time. A frozen process does nothing until it thaws, then continues. */
export const createWorkerProcesses = (random: () => number, onAppend: (stream: string, event: StoredEvent) => void) => {
  const store = createMemoryEventStore()
  interface Task {
    readonly isHeld: () => boolean
    readonly run: () => void
  }
  let steps: Array<Task> = []
  let timers: Array<Task & { readonly due: number }> = []
  let lateAppends: Array<() => Promise<unknown>> = []
  let [clock, observed] = [0, 0]
  let faults = NO_FAULTS

  const observe = (): void => {
    const log = store.allEvents()
    for (const event of log.slice(observed)) onAppend(event.stream, event)
    observed = log.length
  }
  const pick = <A>(from: ReadonlyArray<A>): A | undefined => from[Math.floor(random() * from.length)]
  /** Runs all pending microtasks. */
  const settle = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

  const createProcess = (): SimulatedWorkerProcess => {
    let [isFrozen, isDead] = [false, false]
    const isHeld = (): boolean => isFrozen
    const step = <A>(act: () => Promise<A>): Promise<A> =>
      new Promise((resolve, reject) => {
        if (!isDead)
          steps.push({
            isHeld,
            run: () =>
              void (
                isDead ||
                act().then((answer) => {
                  if (!isDead) resolve(answer)
                }, reject)
              ),
          })
      })
    const append: EventStore['append'] = (...args) => step(async () => {
        const write = () => store.append(...args)
        const chance = random()
        if (chance < faults.late) {
          lateAppends.push(write)
          return E.left(UNAVAILABLE)
        }
        const appended = await write()
        if (chance < faults.late + faults.doubled) lateAppends.push(write)
        return chance > 1 - faults.lost ? E.left(UNAVAILABLE) : appended
      })
    return {
      store: {
        ...store,
        append,
        read: (...args) => step(() => store.read(...args)),
        setMetadata: (...args) => step(() => store.setMetadata(...args)),
        subscribe: async function* (...args): AsyncGenerator<SubscriptionMessage, void> {
          for await (const message of store.subscribe(...args)) {
            await step(async () => undefined)
            yield message
          }
        },
      },
      timers: {
        after: (ms, task) => {
          const entry = { due: clock + ms, isHeld, run: () => { if (!isDead) task() } }
          timers.push(entry)
          return () => { timers = timers.filter((timer) => timer !== entry) }
        },
      },
      freeze: (frozen) => { isFrozen = frozen },
      kill: () => { isDead = true },
      isFrozen: () => isFrozen,
      isDead: () => isDead,
    }
  }

  /** Runs a late append. */
  const runLateAppend = async (): Promise<void> => {
    const write = pick(lateAppends)
    lateAppends = lateAppends.filter((append) => append !== write)
    await write?.()
  }

  return {
    createProcess,
    log: store.allEvents,
    setFaults: (next: AppendFaults): void => { faults = next },
    now: (): number => clock,
    /** Advances the clock by milliseconds and runs the due timers in order. */
    advance: async (ms: number): Promise<void> => {
      const until = clock + ms
      for (;;) {
        const [next] = timers.filter(({ due, isHeld }) => due <= until && !isHeld()).toSorted((a, b) => a.due - b.due)
        if (next === undefined) break
        timers = timers.filter((timer) => timer !== next)
        clock = Math.max(clock, next.due)
        next.run()
        await settle()
      }
      clock = until
    },
    /** Runs one random waiting step; false when no step waits. */
    next: async (): Promise<boolean> => {
      await settle()
      const free = steps.filter(({ isHeld }) => !isHeld())
      if (lateAppends.length > 0 && (free.length === 0 || random() < 0.1)) await runLateAppend()
      else if (free.length === 0) return false
      else {
        const chosen = pick(free)
        steps = steps.filter((step) => step !== chosen)
        chosen?.run()
      }
      await settle()
      observe()
      return true
    },
    /** Milliseconds to the next timer of a process that is not frozen; null without a timer. */
    nextTimer: (): number | null => {
      const due = timers.filter(({ isHeld }) => !isHeld()).map((timer) => timer.due)
      return due.length === 0 ? null : Math.max(0, Math.min(...due) - clock)
    },
  }
}
