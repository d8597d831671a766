import type { Environment } from '../../application/ports/environment.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Position } from '../../application/ports/event-store.ts'
import type { ProjectionLag, Projector } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'

/** How long a writer waits for its projections: D52's two seconds, less what the write itself takes. */
const MAX_WAIT_MS = 1500

/** What is told of one projection: by itself where this process runs it, else by who follows it. */
export interface Reporter {
  /** Whether this process runs it from now on. */
  readonly owned: (is: boolean) => void
  readonly reached: (position: Position) => void
  /** There may be more to do than is known: from the start and whenever the subscription is gone. */
  readonly working: () => void
  /** All that is known of is done. */
  readonly resting: () => void
  readonly failing: (error: string) => void
  readonly succeeding: () => void
  readonly rebuilding: (is: boolean) => void
  /** What it is retrying after, null while all is well. */
  readonly error: () => string | null
}

interface State {
  readonly projection: string
  position: Position
  hasCaughtUp: boolean
  /** Monotonic time since when there is something to do; null at rest. */
  busySince: number | null
  error: string | null
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
  /** Somebody waits. */
  readonly isAwaited: () => boolean
  /** Hears that somebody waits, or that something was told. */
  readonly onNews: (hear: () => void) => void
  /** Nobody will report any more: lets those go who wait for the catching up. */
  readonly close: () => void
}

/** Keeps how far each projection is, and wakes those who wait for it. */
export const createProgress = (
  names: ReadonlyArray<string>,
  { environment, timers }: { readonly environment: Pick<Environment, 'monotonic'>; readonly timers: Timers },
): Progress => {
  const states = new Map(
    names.map((projection): [string, State] => [
      projection,
      { projection, position: BEGINNING, hasCaughtUp: false, busySince: environment.monotonic(), error: null, failures: 0, rebuilding: false, isOwn: false },
    ]),
  )
  const waiters = new Set<Waiter>()
  const hearers = new Set<() => void>()
  let timeouts = 0
  let isClosed = false

  const wake = (): void => {
    for (const hear of hearers) hear()
    for (const waiter of waiters) {
      if (!waiter.isDone()) continue
      waiters.delete(waiter)
      waiter.resolve()
    }
  }
  const every = (holds: (state: State) => boolean): boolean => [...states.values()].every(holds)

  const whenProjected = (position: Position): Promise<void> =>
    new Promise((resolve) => {
      const isDone = (): boolean => every((state) => state.position >= position)
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
      for (const hear of hearers) hear()
    })

  const caughtUp = (): Promise<void> =>
    new Promise((resolve) => {
      waiters.add({ isDone: () => isClosed || every((state) => state.hasCaughtUp), resolve })
      wake()
    })

  const lagOf = ({ busySince, ...state }: State): ProjectionLag => ({
    ...state,
    secondsBehind: busySince === null ? 0 : (environment.monotonic() - busySince) / 1000,
  })

  const reporter = (projection: string): Reporter => {
    const state = states.get(projection)
    if (state === undefined) throw new Error(`no projection is named ${projection}`)
    return {
      owned: (is) => {
        state.isOwn = is
        state.error = null
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
      },
      rebuilding: (is) => {
        state.rebuilding = is
      },
      error: () => state.error,
    }
  }

  return {
    whenProjected,
    caughtUp,
    lag: () => [...states.values()].map(lagOf),
    isAwaited: () => waiters.size > 0,
    onNews: (hear) => void hearers.add(hear),
    timeouts: () => timeouts,
    reporter,
    close: () => {
      isClosed = true
      wake()
    },
  }
}
