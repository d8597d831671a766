import type { Compute } from './compute.ts'
import { heldVram } from './state.ts'
import type { AdmissionState } from './state.ts'
import type { AdmissionEvent } from './events.ts'

/** A worker that may be given a live. */
export interface Candidate {
  readonly worker: string
  /** The lowest comes first. */
  readonly rank: number
  /** Absent where nobody measured it: then memory alone decides. */
  readonly compute?: Compute
}

/** What a worker has left. */
export interface Room {
  readonly worker: string
  /** Megabytes; below 0 where the capacity was lowered below what is reserved. */
  readonly free: number
}

/** A move is some 300 bytes in the log: so many fit into any append. */
const MOVES_AT_ONCE = 200

/** Of the workers that take lives, by name. */
export const roomsOf = (state: AdmissionState): ReadonlyArray<Room> =>
  state.workers
    .filter(({ isDraining }) => !isDraining)
    .map(({ worker, vram }) => ({ worker, free: vram - heldVram(state, worker) }))

type Rank = (worker: string) => number

/** Of the workers with so many megabytes left the lowest in rank, then the one with the most left, then by name. */
export const chooseRoom = (rooms: ReadonlyArray<Room>, vram: number, rankOf: Rank): Room | undefined =>
  rooms
    .filter(({ free }) => free >= vram)
    .reduce<Room | undefined>((best, next) => {
      if (best === undefined) return next
      const [least, rank] = [rankOf(best.worker), rankOf(next.worker)]
      return rank < least || (rank === least && next.free > best.free) ? next : best
    }, undefined)

const isWaiting = (state: AdmissionState): boolean => state.open.some(({ worker }) => worker === null)

/**
 * Moves of lives that wait for a worker to those with room, who waits longest first; `first` is filled before others.
 * At most 200: when there are so many, more may be left.
 */
export const placeWaiting = (
  state: AdmissionState,
  at: string,
  first: string | null = null,
): ReadonlyArray<AdmissionEvent> => {
  if (!isWaiting(state)) return []
  const rankOf: Rank = (worker) => (worker === first ? 0 : 1)
  const moves: Array<AdmissionEvent> = []
  let rooms = roomsOf(state)
  for (const { liveId, worker, vram, term } of state.open) {
    if (worker !== null || moves.length === MOVES_AT_ONCE) continue
    const room = chooseRoom(rooms, vram, rankOf)
    if (room === undefined) continue
    moves.push({ type: 'Moved', data: { liveId, worker: room.worker, term: term + 1, at } })
    rooms = rooms.map((one) => (one === room ? { ...one, free: one.free - vram } : one))
  }
  return moves
}

/** Whether a live waits for which there is room: then `Place` is to be sent. */
export const isPlaceable = (state: AdmissionState): boolean => placeWaiting(state, '').length > 0
