import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { Decider } from '../shared/decider.ts'
import { EMPTY_COMMANDS, allCommands, findCommand, recordCommand, pruneCommands } from './commands.ts'
import type { RecentCommands } from './commands.ts'
import type { AdmissionEvent, AdmissionSnapshotTaken, Reservation } from './events.ts'

interface WorkerCapacity {
  readonly worker: string
  /** Megabytes. */
  readonly vram: number
}

/**
 * Small flat arrays, copied on each event: with a few hundred open lives that is one short block copy, which is
 * cheaper than a Map's copy, and every earlier state stays valid (a decision that lost its race is simply dropped).
 */
export interface AdmissionState {
  /** By name of the worker. */
  readonly capacity: ReadonlyArray<WorkerCapacity>
  /** What holds megabytes, in the order of admission. */
  readonly open: ReadonlyArray<Reservation>
  readonly lastLiveId: number
  readonly commands: RecentCommands
}

export type AdmissionCommand =
  | { readonly type: 'SetCapacity'; readonly worker: string; readonly vram: number; readonly at: string }
  | {
      readonly type: 'Admit'
      readonly commandId: string
      readonly userId: number
      /** Megabytes. */
      readonly vram: number
      /** The user's quota of open lives. */
      readonly maxSessions: number
      /** The process that will create the live. */
      readonly instance: string
      readonly at: string
    }
  | { readonly type: 'Release'; readonly liveId: number; readonly at: string }

export type AdmissionRefusal =
  | { readonly _tag: 'QuotaReached'; readonly maximum: number }
  /** Megabytes; `free` is the most that any one worker has left. */
  | { readonly _tag: 'InsufficientVram'; readonly needed: number; readonly free: number }

type Decision = Either<AdmissionRefusal, ReadonlyArray<AdmissionEvent>>
type Admit = Extract<AdmissionCommand, { readonly type: 'Admit' }>

const total = (items: ReadonlyArray<{ readonly vram: number }>): number => items.reduce((sum, item) => sum + item.vram, 0)

/** Megabytes held by open lives, on all workers. */
export const reservedVram = (state: AdmissionState): number => total(state.open)

/** Megabytes that all workers have together. */
export const totalVram = (state: AdmissionState): number => total(state.capacity)

/** The live that a create of the last 24 hours was given. */
export const liveIdOfCommand = (state: AdmissionState, commandId: string): Option<number> => findCommand(state.commands, commandId)

interface FreeVram {
  readonly worker: string
  /** Megabytes; below 0 where the capacity was lowered below what is reserved. */
  readonly free: number
}

/** The worker with the most megabytes left, the first by name among equals. */
const freest = (state: AdmissionState): FreeVram | undefined =>
  state.capacity
    .map(({ worker, vram }): FreeVram => ({ worker, free: vram - total(state.open.filter((held) => held.worker === worker)) }))
    .reduce<FreeVram | undefined>((best, next) => (best === undefined || next.free > best.free ? next : best), undefined)

/** Quota before memory (R62). */
const admit = ({ commandId, userId, vram, maxSessions, instance, at }: Admit, state: AdmissionState): Decision => {
  if (O.isSome(liveIdOfCommand(state, commandId))) return E.right([])
  const sessions = state.open.filter((reservation) => reservation.userId === userId).length
  if (sessions >= maxSessions) return E.left({ _tag: 'QuotaReached', maximum: maxSessions })
  const best = freest(state)
  if (best === undefined || best.free < vram) {
    return E.left({ _tag: 'InsufficientVram', needed: vram, free: Math.max(0, best?.free ?? 0) })
  }
  const liveId = state.lastLiveId + 1
  return E.right([{ type: 'Admitted', data: { liveId, userId, worker: best.worker, vram, instance, commandId, at } }])
}

const decide = (command: AdmissionCommand, state: AdmissionState): Decision => {
  switch (command.type) {
    case 'SetCapacity': {
      const { worker, vram, at } = command
      const known = state.capacity.some((entry) => entry.worker === worker && entry.vram === vram)
      return E.right(known ? [] : [{ type: 'CapacitySet', data: { worker, vram, at } }])
    }
    case 'Admit':
      return admit(command, state)
    case 'Release': {
      const { liveId, at } = command
      const open = state.open.some((reservation) => reservation.liveId === liveId)
      return E.right(open ? [{ type: 'Released', data: { liveId, at } }] : [])
    }
  }
}

const setCapacity = (capacity: ReadonlyArray<WorkerCapacity>, { worker, vram }: WorkerCapacity): ReadonlyArray<WorkerCapacity> =>
  [...capacity.filter((entry) => entry.worker !== worker), { worker, vram }].sort((a, b) => (a.worker < b.worker ? -1 : 1))

const apply = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  switch (event.type) {
    case 'CapacitySet':
      return { ...state, capacity: setCapacity(state.capacity, event.data) }
    case 'Admitted': {
      const { liveId, commandId, at } = event.data
      return {
        ...state,
        open: [...state.open, event.data],
        lastLiveId: Math.max(state.lastLiveId, liveId),
        commands: recordCommand(state.commands, { commandId, liveId, at }),
      }
    }
    case 'Released':
      return { ...state, open: state.open.filter((reservation) => reservation.liveId !== event.data.liveId) }
  }
}

const evolve = (state: AdmissionState, event: AdmissionEvent): AdmissionState => {
  const commands = pruneCommands(state.commands, event.data.at)
  return apply(commands === state.commands ? state : { ...state, commands }, event)
}

const initialState: AdmissionState = { capacity: [], open: [], lastLiveId: 0, commands: EMPTY_COMMANDS }

/**
 * Who may run: megabytes per worker, open lives per user, and the live's id, decided together. A capacity lowered
 * below what is reserved evicts nobody; nothing more is admitted until it fits again.
 */
export const admissionDecider: Decider<AdmissionState, AdmissionCommand, AdmissionEvent, AdmissionRefusal> = {
  initialState,
  evolve,
  decide,
}

/** The whole state as JSON; `revision` is that of the last event of `admission` in it. */
export const toSnapshot = (state: AdmissionState, revision: number): AdmissionSnapshotTaken['data'] => ({
  revision,
  capacity: state.capacity,
  open: state.open,
  lastLiveId: state.lastLiveId,
  commands: allCommands(state.commands),
})

/** Folding on from here gives what folding the whole log gives. */
export const fromSnapshot = ({ capacity, open, lastLiveId, commands }: AdmissionSnapshotTaken['data']): AdmissionState => ({
  capacity,
  open,
  lastLiveId,
  commands: commands.reduce(recordCommand, EMPTY_COMMANDS),
})
