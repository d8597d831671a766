import type { Compute } from './compute.ts'
import { type AdmissionState, heldVram } from './state.ts'
import type { AdmissionEvent } from './events.ts'

/** A worker that may get a new session. */
export interface Candidate {
  readonly worker: string
  /** The lowest rank is preferred. */
  readonly rank: number
  /** Absent when the worker was not measured. Then only memory decides. */
  readonly compute?: Compute
}

/** The names of the models and translators that each worker can run, by the worker's name. */
export type Offering = ReadonlyMap<string, ReadonlySet<string>>

/**
 * True when the worker has all the needed models. `needs` is null for sessions of early versions, which any worker in
 * the offering can run. Without an offering only memory decides.
 */
export const canRun = (
  offering: Offering | undefined,
  worker: string,
  needs: ReadonlyArray<string> | null,
): boolean => {
  if (offering === undefined) return true
  const names = offering.get(worker)
  return names !== undefined && (needs ?? []).every((name) => names.has(name))
}

export interface Room {
  readonly worker: string
  /** Megabytes. Negative when the worker joined again with less memory than is reserved. */
  readonly free: number
}

/** Moves in one append. A move takes about 300 bytes in the log. */
const MOVES_AT_ONCE = 200

/** Returns the free memory of all workers that accept sessions, by name. */
export const roomsOf = (state: AdmissionState): ReadonlyArray<Room> =>
  state.workers
    .filter(({ isDraining }) => !isDraining)
    .map(({ worker, vram }) => ({ worker, free: vram - heldVram(state, worker) }))

type Rank = (worker: string) => number

const isBetter = (a: Room, b: Room, ranks: ReadonlyArray<Rank>): boolean => {
  const rank = ranks.find((rankOf) => rankOf(a.worker) !== rankOf(b.worker))
  return rank === undefined ? a.free > b.free : rank(a.worker) < rank(b.worker)
}

/**
 * Chooses among the workers with at least `vram` megabytes free. The worker with the lowest first rank wins. Ties are
 * decided by the later ranks, then by the most free memory, then by the first name.
 */
export const chooseRoom = (
  rooms: ReadonlyArray<Room>,
  vram: number,
  ...ranks: ReadonlyArray<Rank>
): Room | undefined =>
  rooms
    .filter(({ free }) => free >= vram)
    .reduce<Room | undefined>(
      (best, next) => (best === undefined || isBetter(next, best, ranks) ? next : best),
      undefined,
    )

const isWaiting = (state: AdmissionState): boolean => state.open.some(({ worker }) => worker === null)

interface Placing {
  readonly at: string
  /** The worker to fill before the others. */
  readonly first?: string
  readonly offering: Offering | undefined
}

/**
 * Moves waiting sessions to workers that have the models and the memory. The session that waits longest comes first. At
 * most `MOVES_AT_ONCE` moves are returned, so more sessions may still wait.
 */
export const placeWaiting = (
  state: AdmissionState,
  { at, first, offering }: Placing,
): ReadonlyArray<AdmissionEvent> => {
  if (!isWaiting(state)) return []
  const rankOf: Rank = (worker) => (worker === first ? 0 : 1)
  const moves: Array<AdmissionEvent> = []
  let rooms = roomsOf(state)
  for (const { liveId, worker, vram, term, needs } of state.open) {
    if (worker !== null || moves.length === MOVES_AT_ONCE) continue
    const able = rooms.filter((room) => canRun(offering, room.worker, needs))
    const chosen = chooseRoom(able, vram, rankOf)
    if (chosen === undefined) continue
    moves.push({ type: 'Moved', data: { liveId, worker: chosen.worker, term: term + 1, at } })
    rooms = rooms.map((room) => (room === chosen ? { ...room, free: room.free - vram } : room))
  }
  return moves
}

/** True when a waiting session could get a worker. Then the caller sends `Place`. */
export const isPlaceable = (state: AdmissionState, offering: Offering | undefined): boolean =>
  placeWaiting(state, { at: '', offering }).length > 0
