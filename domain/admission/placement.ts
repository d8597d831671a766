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

/**
 * The models and translators that each worker can run, by its name; who is not named is given no live. Where nobody
 * tells, memory alone decides.
 */
export type Offering = ReadonlyMap<string, ReadonlySet<string>>

/** Whether the worker can run a live that needs these; of what an older version admitted nobody knows what it needs. */
export const isOffered = (
  offering: Offering | undefined,
  worker: string,
  needs: ReadonlyArray<string> | null,
): boolean => {
  if (offering === undefined) return true
  const names = offering.get(worker)
  return names !== undefined && (needs ?? []).every((name) => names.has(name))
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

const isBetter = (one: Room, other: Room, ranks: ReadonlyArray<Rank>): boolean => {
  const rank = ranks.find((rankOf) => rankOf(one.worker) !== rankOf(other.worker))
  return rank === undefined ? one.free > other.free : rank(one.worker) < rank(other.worker)
}

/**
 * Of the workers with so many megabytes left the lowest in the first rank that tells them apart, then the one with the
 * most left, then by name.
 */
export const chooseRoom = (
  rooms: ReadonlyArray<Room>,
  vram: number,
  ...ranks: ReadonlyArray<Rank>
): Room | undefined =>
  rooms
    .filter(({ free }) => free >= vram)
    .reduce<Room | undefined>((best, next) => (best === undefined || isBetter(next, best, ranks) ? next : best), undefined)

const isWaiting = (state: AdmissionState): boolean => state.open.some(({ worker }) => worker === null)

interface Placing {
  readonly at: string
  /** Filled before others. */
  readonly first?: string
  readonly offering: Offering | undefined
}

/**
 * Moves of lives that wait for a worker to those that can run them and have room, who waits longest first. At most 200:
 * when there are so many, more may be left.
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
    const able = rooms.filter((one) => isOffered(offering, one.worker, needs))
    const room = chooseRoom(able, vram, rankOf)
    if (room === undefined) continue
    moves.push({ type: 'Moved', data: { liveId, worker: room.worker, term: term + 1, at } })
    rooms = rooms.map((one) => (one === room ? { ...one, free: one.free - vram } : one))
  }
  return moves
}

/** Whether a live waits for which there is room: then `Place` is to be sent. */
export const isPlaceable = (state: AdmissionState, offering: Offering | undefined): boolean =>
  placeWaiting(state, { at: '', offering }).length > 0
