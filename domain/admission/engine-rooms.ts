import { openOf } from './state.ts'
import type { AdmissionState, Reservation } from './state.ts'

/** An engine of a worker that runs several, each on a GPU of its own. */
export interface EngineRoom {
  /** Megabytes that its sessions can reserve. */
  readonly vram: number
  /** Sessions that run on it. */
  readonly sessions: ReadonlySet<number>
}

/** What an engine has left for one more session. */
export interface EngineSpace {
  readonly vram: number
  readonly lanes: number
}

interface Asked {
  readonly worker: string
  readonly rooms: ReadonlyArray<EngineRoom>
  /** Lanes of all engines together. */
  readonly lanes: number
  /** Lanes that a session takes. */
  readonly lanesOf: (held: Reservation) => number
}

/**
 * What each engine of a worker has left. A session runs on one engine. A session that has not begun is counted on the
 * engine with the most memory left, the largest session first.
 */
export const spacesOf = (
  state: AdmissionState,
  { worker, rooms, lanes, lanesOf }: Asked,
): ReadonlyArray<EngineSpace> => {
  const spaces = rooms.map(({ vram }) => ({ vram, lanes: lanes / rooms.length }))
  const take = (engine: number, held: Reservation): void => {
    const space = spaces[engine]
    if (space === undefined) return
    space.vram -= held.vram
    space.lanes -= lanesOf(held)
  }
  const pending: Array<Reservation> = []
  for (const held of openOf(state, worker)) {
    const engine = rooms.findIndex(({ sessions }) => sessions.has(held.liveId))
    if (engine === -1) pending.push(held)
    else take(engine, held)
  }
  for (const held of pending.toSorted((one, other) => other.vram - one.vram)) {
    take(spaces.findIndex(({ vram }) => vram === Math.max(...spaces.map((space) => space.vram))), held)
  }
  return spaces
}

/** The most megabytes that a session can reserve on any one engine; Infinity where the worker has a single engine. */
export const mostMemory = (
  state: AdmissionState,
  worker: string,
  rooms: ReadonlyArray<EngineRoom> | undefined,
): number => {
  if (rooms === undefined) return Infinity
  const spaces = spacesOf(state, { worker, rooms, lanes: 0, lanesOf: () => 0 })
  return Math.max(0, ...spaces.map(({ vram }) => vram))
}
