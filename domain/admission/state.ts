import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { EMPTY_COMMANDS, findCommand, pruneCommands, type RecentCommands, recordCommand } from './commands.ts'
import type { Admitted, AdmissionEvent, WorkerRestarted } from './events.ts'
import type { EventOf } from '../shared/event.ts'

/** A process that runs sessions. */
export interface Worker {
  /** Name. */
  readonly worker: string
  /** Id of one run of the process. Null for workers of early versions, which wrote no `WorkerJoined` event. */
  readonly incarnation: string | null
  /** Megabytes. */
  readonly vram: number
  /** True when the worker accepts no new sessions. */
  readonly isDraining: boolean
}

type AdmittedData = EventOf<typeof Admitted>['data']
type RestartedData = EventOf<typeof WorkerRestarted>['data']

/** The megabytes that an open session holds on a worker. */
export interface Reservation extends Omit<AdmittedData, 'worker' | 'commandId'> {
  /** Null after its worker left. Then the session waits for another worker. */
  readonly worker: string | null
  /** Leadership term of the worker: 1 at admission, one more with each move and each restart of the worker. */
  readonly term: number
}

/**
 * Flat arrays that are copied on each event. For a few hundred open sessions this is cheaper than copying a Map. Every
 * earlier state stays valid, so a decision that lost a race can be dropped.
 */
export interface AdmissionState {
  /** Sorted by name. */
  readonly workers: ReadonlyArray<Worker>
  /** In the order of admission. A session that lost its worker moves to the end, so the longest wait comes first. */
  readonly open: ReadonlyArray<Reservation>
  readonly lastLiveId: number
  /** Create commands of the last ten minutes. A client that repeats one after a lost answer gets the same session. */
  readonly commands: RecentCommands
  /**
   * Create commands of early versions in the last 24 hours. Those versions stored the session of an Idempotency-Key
   * only here.
   */
  readonly earlierCommands: RecentCommands
}

export const initialState: AdmissionState = {
  workers: [], open: [], lastLiveId: 0, commands: EMPTY_COMMANDS, earlierCommands: EMPTY_COMMANDS,
}

const MINUTE_MS = 60_000
const COMMANDS_KEPT_MS = 10 * MINUTE_MS
const EARLIER_COMMANDS_KEPT_MS = 24 * 60 * MINUTE_MS
/** Limit for the create commands of ten minutes, because a snapshot must fit into one append. */
const MAX_COMMANDS = 4000

const sumOfVram = (items: ReadonlyArray<{ readonly vram: number }>): number =>
  items.reduce((sum, item) => sum + item.vram, 0)

/** Megabytes that open sessions hold, including sessions that wait for a worker. */
export const reservedVram = (state: AdmissionState): number => sumOfVram(state.open)

/** Megabytes that all workers have together. */
export const totalVram = (state: AdmissionState): number => sumOfVram(state.workers)

export const openOf = (state: AdmissionState, worker: string): ReadonlyArray<Reservation> =>
  state.open.filter((held) => held.worker === worker)

/** Megabytes that sessions hold on a worker. */
export const heldVram = (state: AdmissionState, worker: string): number => sumOfVram(openOf(state, worker))

/**
 * Returns the worker and the term of an open session. Returns null for a session without a reservation. `worker` is
 * null while the session waits.
 */
export const placementOf = (
  state: AdmissionState,
  liveId: number,
): { readonly worker: string | null; readonly term: number } | null => {
  const held = state.open.find((reservation) => reservation.liveId === liveId)
  return held === undefined ? null : { worker: held.worker, term: held.term }
}

/** Returns the session id of a recent create command. */
export const liveIdOfCommand = (state: AdmissionState, commandId: string): Option<number> =>
  O.alt(() => findCommand(state.earlierCommands, commandId))(findCommand(state.commands, commandId))

const without = (workers: ReadonlyArray<Worker>, name: string): ReadonlyArray<Worker> =>
  workers.filter(({ worker }) => worker !== name)

const join = (state: AdmissionState, joining: Worker): AdmissionState => ({
  ...state,
  workers: [...without(state.workers, joining.worker), joining].toSorted((a, b) => (a.worker < b.worker ? -1 : 1)),
})

const admit = (state: AdmissionState, { commandId, ...held }: AdmittedData): AdmissionState => {
  const command = { commandId, liveId: held.liveId, at: Date.parse(held.at) }
  const admitted = {
    ...state,
    open: [...state.open, { ...held, term: 1 }],
    lastLiveId: Math.max(state.lastLiveId, held.liveId),
  }
  return held.needs === null
    ? { ...admitted, earlierCommands: recordCommand(state.earlierCommands, command) }
    : { ...admitted, commands: recordCommand(state.commands, command) }
}

const leave = (state: AdmissionState, name: string): AdmissionState => ({
  ...state,
  workers: without(state.workers, name),
  open: [
    ...state.open.filter(({ worker }) => worker !== name),
    ...openOf(state, name).map((held) => ({ ...held, worker: null })),
  ],
})

/** Raises the terms of the sessions that a restarted worker keeps. The others wait at the end. */
const restart = (state: AdmissionState, { worker, incarnation, vram, waiting }: RestartedData): AdmissionState => {
  const isWaiting = new Set(waiting)
  const kept = state.open.filter(({ liveId }) => !isWaiting.has(liveId))
  return {
    ...join(state, { worker, incarnation, vram, isDraining: false }),
    open: [
      ...kept.map((held) => (held.worker === worker ? { ...held, term: held.term + 1 } : held)),
      ...state.open.filter(({ liveId }) => isWaiting.has(liveId)).map((held) => ({ ...held, worker: null })),
    ],
  }
}

const apply = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  switch (event.type) {
    case 'CapacitySet':
      return join(state, { worker: event.data.worker, incarnation: null, vram: event.data.vram, isDraining: false })
    case 'WorkerJoined': {
      const { worker, incarnation, vram } = event.data
      return join(state, { worker, incarnation, vram, isDraining: false })
    }
    case 'WorkerRestarted':
      return restart(state, event.data)
    case 'WorkerDraining': {
      const { worker: name } = event.data
      const workers = state.workers.map((worker) => (worker.worker === name ? { ...worker, isDraining: true } : worker))
      return { ...state, workers }
    }
    case 'WorkerLeft':
      return leave(state, event.data.worker)
    case 'Admitted':
      return admit(state, event.data)
    case 'Moved': {
      const { liveId, worker, term } = event.data
      return { ...state, open: state.open.map((held) => (held.liveId === liveId ? { ...held, worker, term } : held)) }
    }
    case 'Released':
      return { ...state, open: state.open.filter((held) => held.liveId !== event.data.liveId) }
    case 'LiveIdsSkipped':
      return { ...state, lastLiveId: Math.max(state.lastLiveId, event.data.through) }
  }
}

export const evolve = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  const now = Date.parse(event.data.at)
  const commands = pruneCommands(state.commands, now - COMMANDS_KEPT_MS, MAX_COMMANDS)
  const earlierCommands = pruneCommands(state.earlierCommands, now - EARLIER_COMMANDS_KEPT_MS, Infinity)
  const isSame = commands === state.commands && earlierCommands === state.earlierCommands
  return apply(isSame ? state : { ...state, commands, earlierCommands }, event)
}
