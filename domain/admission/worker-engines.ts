import { type AdmissionState, openOf, type Reservation } from './state.ts'

/** One engine of a worker that has an engine for each GPU. */
export interface WorkerEngine {
  /** Megabytes that sessions can reserve. */
  readonly vram: number
  /** Ids of the sessions that run on the engine. */
  readonly sessions: ReadonlySet<number>
}

/** Free megabytes and free lanes of an engine. */
export interface EngineSpace {
  readonly vram: number
  readonly lanes: number
}

interface EnginesOfWorker {
  readonly worker: string
  readonly engines: ReadonlyArray<WorkerEngine>
  readonly lanes: number
  /** Returns the lanes that a session takes. */
  readonly lanesOf: (held: Reservation) => number
}

/**
 * Returns the free space of each engine of a worker. A session runs on one engine. Sessions that have not begun are
 * counted afterwards, largest first, each on the engine with the most free memory.
 */
export const spacesOf = (
  state: AdmissionState,
  { worker, engines, lanes, lanesOf }: EnginesOfWorker,
): ReadonlyArray<EngineSpace> => {
  const spaces = engines.map(({ vram }) => ({ vram, lanes: lanes / engines.length }))
  const take = (engine: number, held: Reservation): void => {
    const space = spaces[engine]
    if (space === undefined) return
    space.vram -= held.vram
    space.lanes -= lanesOf(held)
  }
  const pending: Array<Reservation> = []
  for (const held of openOf(state, worker)) {
    const engine = engines.findIndex(({ sessions }) => sessions.has(held.liveId))
    if (engine === -1) pending.push(held)
    else take(engine, held)
  }
  for (const held of pending.toSorted((a, b) => b.vram - a.vram)) {
    take(spaces.findIndex(({ vram }) => vram === Math.max(...spaces.map((space) => space.vram))), held)
  }
  return spaces
}

/** Returns the free megabytes of the engine with the most free memory. Infinity for a worker with a single engine. */
export const mostMemory = (
  state: AdmissionState,
  worker: string,
  engines: ReadonlyArray<WorkerEngine> | undefined,
): number => {
  if (engines === undefined) return Infinity
  const spaces = spacesOf(state, { worker, engines, lanes: 0, lanesOf: () => 0 })
  return Math.max(0, ...spaces.map(({ vram }) => vram))
}
