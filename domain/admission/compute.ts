import { spacesOf, type WorkerEngine } from './worker-engines.ts'
import { type AdmissionState, openOf, type Reservation } from './state.ts'

/**
 * Computing power of a worker, as the worker measured it. One lane runs one pass at a time (one run of a model over the
 * current audio).
 */
export interface Compute {
  /** The device that runs a model, and its lanes, which all models on the device share. Infinity: no limit. */
  readonly deviceOf: (model: string) => { readonly name: string; readonly lanes: number }
  /** Part of a lane that a session needs during speech. More than 1 when a whole lane is too slow for the model. */
  readonly shareOf: (model: string) => number
  /** Ids of the sessions that have a sender or a source. */
  readonly active: ReadonlySet<number>
  /** The engines of a worker with an engine for each GPU. A session needs enough space on one engine. */
  readonly engines?: ReadonlyArray<WorkerEngine>
}

/** A new session counts as active for this time, because its sender is about to connect. */
const EXPECTED_SENDER_MS = 60_000

/**
 * Returns a function that finds the model of a reservation. It returns undefined if the session is not active, because
 * such a session takes no lanes.
 */
const activeModelOf = (active: ReadonlySet<number>, now: string) => {
  // Instants are compared as text: parsing thousands of them with each create would take milliseconds.
  const after = (ms: number): string => new Date(Date.parse(now) + ms).toISOString()
  const [since, until] = [after(-EXPECTED_SENDER_MS), after(EXPECTED_SENDER_MS)]
  // A time further ahead is of a wrong clock. Otherwise the session would occupy its share until that time.
  const isExpected = (at: string): boolean => at > since && at < until
  return ({ liveId, at, needs }: Reservation): string | undefined =>
    active.has(liveId) || isExpected(at) ? needs?.[0] : undefined
}

/** Returns the lanes of a worker's device that its sessions take. */
export const takenLanes = (
  state: AdmissionState,
  { worker, device }: { readonly worker: string; readonly device: string },
  { deviceOf, shareOf, active }: Compute,
  now: string,
): number => {
  const modelOf = activeModelOf(active, now)
  const sessions = new Map<string, number>()
  for (const held of openOf(state, worker)) {
    const model = modelOf(held)
    if (model !== undefined) sessions.set(model, (sessions.get(model) ?? 0) + 1)
  }
  return [...sessions]
    .filter(([model]) => deviceOf(model).name === device)
    .reduce((sum, [model, count]) => sum + count * shareOf(model), 0)
}

/** Lanes that one more session needs on a worker, and the lanes that are free there. */
export interface Lanes {
  readonly neededLanes: number
  readonly freeLanes: number
}

const NOT_MEASURED: Lanes = { neededLanes: 0, freeLanes: Infinity }

interface CandidateWorker {
  readonly worker: string
  readonly compute?: Compute
  /** Megabytes that the session reserves. Engines with less free memory do not count. */
  readonly vram?: number
}

/** Returns the free lanes of the engine with the most free lanes, among the engines with `vram` megabytes free. */
const lanesOnOneEngine = (
  state: AdmissionState,
  { worker, vram = 0 }: CandidateWorker,
  compute: Compute & { readonly engines: ReadonlyArray<WorkerEngine> },
  model: string,
  now: string,
): number => {
  const { name: device, lanes } = compute.deviceOf(model)
  const modelOf = activeModelOf(compute.active, now)
  const shares = new Map<string, number>()
  const shareOn = (name: string): number => {
    const share = shares.get(name) ?? (compute.deviceOf(name).name === device ? compute.shareOf(name) : 0)
    shares.set(name, share)
    return share
  }
  const lanesOf = (held: Reservation): number => {
    const name = modelOf(held)
    return name === undefined ? 0 : shareOn(name)
  }
  const spaces = spacesOf(state, { worker, engines: compute.engines, lanes, lanesOf })
  return Math.max(0, ...spaces.filter((space) => space.vram >= vram).map((space) => space.lanes))
}

/**
 * Returns the lanes that one more session of `model` needs and finds on a worker. A session runs one pass at a time, so
 * `freeLanes` is at most 1.
 */
export const lanesFor = (
  state: AdmissionState,
  candidate: CandidateWorker | undefined,
  model: string | undefined,
  now: string,
): Lanes => {
  if (candidate?.compute === undefined || model === undefined) return NOT_MEASURED
  const { worker, compute } = candidate
  const { name: device, lanes } = compute.deviceOf(model)
  const neededLanes = compute.shareOf(model)
  if (lanes === Infinity) return { neededLanes, freeLanes: Infinity }
  const { engines } = compute
  const remaining = engines === undefined
    ? lanes - takenLanes(state, { worker, device }, compute, now)
    : lanesOnOneEngine(state, candidate, { ...compute, engines }, model, now)
  return { neededLanes, freeLanes: Math.min(1, Math.max(0, remaining)) }
}

export const withMostFreeLanes = (lanes: ReadonlyArray<Lanes>): Lanes => {
  const [{ neededLanes, freeLanes } = NOT_MEASURED] = lanes.toSorted((a, b) => b.freeLanes - a.freeLanes)
  return { neededLanes, freeLanes }
}
