import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { EMPTY_COMMANDS, findCommand, pruneCommands, recordCommand } from './commands.ts'
import type { RecentCommands } from './commands.ts'
import type { Admitted, AdmissionEvent } from './events.ts'
import type { EventOf } from '../shared/event.ts'

/** Who runs lives. */
export interface Worker {
  readonly worker: string
  /** Null for the worker of a version whose workers did not join. */
  readonly incarnation: string | null
  /** Megabytes. */
  readonly vram: number
  /** Takes no further live. */
  readonly isDraining: boolean
}

type AdmittedData = EventOf<typeof Admitted>['data']

/** Megabytes of one worker held by one open live. */
export interface Reservation extends Omit<AdmittedData, 'worker' | 'commandId'> {
  /** Null since its worker left: the live waits for room on another. */
  readonly worker: string | null
  /** 1 where it was admitted, one more with each move. */
  readonly term: number
}

/**
 * Small flat arrays, copied on each event: with a few hundred open lives that is one short block copy, which is
 * cheaper than a Map's copy, and every earlier state stays valid (a decision that lost its race is simply dropped).
 */
export interface AdmissionState {
  /** By name. */
  readonly workers: ReadonlyArray<Worker>
  /** What holds megabytes in the order of admission; what has lost its worker since stands behind, the longest first. */
  readonly open: ReadonlyArray<Reservation>
  readonly lastLiveId: number
  /** The creates of the last ten minutes: whoever repeats one, because no answer came, finds its live. */
  readonly commands: RecentCommands
  /** Those of the last 24 hours by versions that noted the live of an Idempotency-Key nowhere else. */
  readonly earlierCommands: RecentCommands
}

export const initialState: AdmissionState = {
  workers: [], open: [], lastLiveId: 0, commands: EMPTY_COMMANDS, earlierCommands: EMPTY_COMMANDS,
}

const MINUTE_MS = 60_000
const COMMANDS_KEPT_MS = 10 * MINUTE_MS
const EARLIER_COMMANDS_KEPT_MS = 24 * 60 * MINUTE_MS
/** However many creates there are in ten minutes: a snapshot must fit into one append. */
const MOST_COMMANDS = 4000

const sumOfVram = (items: ReadonlyArray<{ readonly vram: number }>): number =>
  items.reduce((sum, item) => sum + item.vram, 0)

/** Megabytes held by open lives, on all workers and waiting for one. */
export const reservedVram = (state: AdmissionState): number => sumOfVram(state.open)

/** Megabytes that all workers have together. */
export const totalVram = (state: AdmissionState): number => sumOfVram(state.workers)

/** What a worker, by its name, is to run. */
export const openOf = (state: AdmissionState, worker: string): ReadonlyArray<Reservation> =>
  state.open.filter((held) => held.worker === worker)

/** Megabytes of a worker, by its name, that are held. */
export const heldVram = (state: AdmissionState, worker: string): number => sumOfVram(openOf(state, worker))

/** Who runs an open live, null while nobody has room, and in which term; null for a live that holds nothing. */
export const placementOf = (
  state: AdmissionState,
  liveId: number,
): { readonly worker: string | null; readonly term: number } | null => {
  const held = state.open.find((reservation) => reservation.liveId === liveId)
  return held === undefined ? null : { worker: held.worker, term: held.term }
}

/** The live that a create of the last ten minutes was given. */
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

const apply = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  switch (event.type) {
    case 'CapacitySet':
      return join(state, { worker: event.data.worker, incarnation: null, vram: event.data.vram, isDraining: false })
    case 'WorkerJoined': {
      const { worker, incarnation, vram } = event.data
      return join(state, { worker, incarnation, vram, isDraining: false })
    }
    case 'WorkerDraining': {
      const { worker: name } = event.data
      return { ...state, workers: state.workers.map((one) => (one.worker === name ? { ...one, isDraining: true } : one)) }
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
  }
}

export const evolve = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  const now = Date.parse(event.data.at)
  const commands = pruneCommands(state.commands, now - COMMANDS_KEPT_MS, MOST_COMMANDS)
  const earlierCommands = pruneCommands(state.earlierCommands, now - EARLIER_COMMANDS_KEPT_MS, Infinity)
  const isSame = commands === state.commands && earlierCommands === state.earlierCommands
  return apply(isSame ? state : { ...state, commands, earlierCommands }, event)
}
