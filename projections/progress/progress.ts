import type { Environment } from '../../application/ports/environment.ts'
import { BEGINNING, type Position } from '../../application/ports/event-store.ts'
import type { ProjectionLag, Projector, StuckAt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'

/** A write request waits at most this long for the projections, so that it answers within two seconds. */
const MAX_WAIT_MS = 1500

/** Reports about one projection, from its runner in this process, or read from another process. */
export interface Reporter {
  /** True: this process begins to run the projection. False: it stops. */
  readonly owned: (isOwn: boolean) => void
  readonly reached: (position: Position) => void
  /** More events may follow: at the start, for each batch, and after the subscription broke. */
  readonly working: () => void
  /** All known events are projected. */
  readonly resting: () => void
  readonly failing: (error: string) => void
  readonly succeeding: () => void
  /** The projection fails at this event, although its store takes other writes. Until `succeeding`. */
  readonly stuck: (at: StuckAt | null) => void
  /** Part of the log that is done, while many events are still to be read. Null: not so many, or unknown. */
  readonly catchingUp: (share: number | null) => void
  readonly rebuilding: (isRebuilding: boolean) => void
  /** The error that is being retried. Null without an error. */
  readonly error: () => string | null
}

interface State {
  readonly projection: string
  position: Position
  hasCaughtUp: boolean
  /** Monotonic time since which events are waiting to be projected. Null at rest. */
  busySince: number | null
  error: string | null
  stuckAt: StuckAt | null
  share: number | null
  failures: number
  rebuilding: boolean
  isOwn: boolean
}

interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
}

export type Progress = Pick<Projector, 'whenProjected' | 'caughtUp' | 'lag' | 'timeouts'> & {
  readonly reporter: (projection: string) => Reporter
  /** True while a caller waits for progress. */
  readonly isAwaited: () => boolean
  /** Calls the listener when a caller begins to wait and after each report. */
  readonly onChange: (listener: () => void) => void
  /** Ends the waits of `caughtUp`, because no more reports will come. */
  readonly close: () => void
}

/** Keeps the progress of each projection, and resolves the promises of callers that wait for it. */
export const createProgress = (
  names: ReadonlyArray<string>,
  { environment, timers }: { readonly environment: Pick<Environment, 'monotonic'>; readonly timers: Timers },
): Progress => {
  const states = new Map(
    names.map((projection): [string, State] => [
      projection,
      {
        projection,
        position: BEGINNING,
        hasCaughtUp: false,
        busySince: environment.monotonic(),
        error: null,
        stuckAt: null,
        share: null,
        failures: 0,
        rebuilding: false,
        isOwn: false,
      },
    ]),
  )
  const waiters = new Set<Waiter>()
  const listeners = new Set<() => void>()
  let timeouts = 0
  let isClosed = false

  const wake = (): void => {
    for (const listener of listeners) listener()
    for (const waiter of waiters) {
      if (!waiter.isDone()) continue
      waiters.delete(waiter)
      waiter.resolve()
    }
  }
  const whenProjected: Projector['whenProjected'] = (lists, position) =>
    new Promise((resolve) => {
      const isDone = (): boolean => lists.every((list) => {
        const state = states.get(list)
        return state === undefined || state.position >= position || state.stuckAt !== null || state.share !== null
      })
      if (isDone()) {
        resolve()
        return
      }
      const cancel = timers.after(MAX_WAIT_MS, () => {
        waiters.delete(waiter)
        timeouts += 1
        resolve()
      })
      const waiter: Waiter = {
        isDone,
        resolve: () => {
          cancel()
          resolve()
        },
      }
      waiters.add(waiter)
      for (const listener of listeners) listener()
    })

  const caughtUp = (): Promise<void> =>
    new Promise((resolve) => {
      waiters.add({ isDone: () => isClosed || [...states.values()].every((state) => state.hasCaughtUp), resolve })
      wake()
    })

  const lagOf = ({ busySince, ...state }: State): ProjectionLag => ({
    ...state,
    secondsBehind: busySince === null ? 0 : (environment.monotonic() - busySince) / 1000,
  })

  const reporter = (projection: string): Reporter => {
    const state = states.get(projection)
    if (state === undefined) throw new Error(`unknown projection ${projection}`)
    return {
      owned: (isOwn) => {
        state.isOwn = isOwn
        state.error = null
        state.stuckAt = null
        state.share = null
        state.rebuilding = false
        state.busySince ??= environment.monotonic()
        wake()
      },
      reached: (position) => {
        state.position = position
        wake()
      },
      working: () => {
        state.busySince ??= environment.monotonic()
      },
      resting: () => {
        state.busySince = null
        state.hasCaughtUp = true
        state.share = null
        wake()
      },
      failing: (error) => {
        state.busySince ??= environment.monotonic()
        state.error = error
        state.failures += 1
        wake()
      },
      succeeding: () => {
        state.error = null
        state.stuckAt = null
      },
      stuck: (at) => {
        state.stuckAt = at
        wake()
      },
      catchingUp: (share) => {
        state.share = share
        wake()
      },
      rebuilding: (isRebuilding) => {
        state.rebuilding = isRebuilding
      },
      error: () => state.error,
    }
  }

  return {
    whenProjected,
    caughtUp,
    lag: () => [...states.values()].map(lagOf),
    isAwaited: () => waiters.size > 0,
    onChange: (listener) => void listeners.add(listener),
    timeouts: () => timeouts,
    reporter,
    close: () => {
      isClosed = true
      wake()
    },
  }
}
