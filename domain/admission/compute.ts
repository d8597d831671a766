import { openOf } from './state.ts'
import type { AdmissionState } from './state.ts'

/** Speed of a worker's engine, as the worker measured it. One lane runs one model pass at a time. */
export interface Compute {
  /** The device that runs a model, and its lanes, which all models on the device share. Infinity: no limit. */
  readonly deviceOf: (model: string) => { readonly name: string; readonly lanes: number }
  /** Part of a lane that a session needs during speech. More than 1 when a whole lane is too slow for the model. */
  readonly shareOf: (model: string) => number
  /** Ids of the sessions that have a sender or a source. */
  readonly active: ReadonlySet<number>
}

/** A new session counts as active for this time, because its sender is about to connect. */
const EXPECTED_SENDER_MS = 60_000

/** Returns the lanes of a worker's device that its sessions take. */
export const takenLanes = (
  state: AdmissionState,
  { worker, device }: { readonly worker: string; readonly device: string },
  { deviceOf, shareOf, active }: Compute,
  now: string,
): number => {
  // Instants are compared as text: parsing thousands of them for each create would take milliseconds.
  const since = new Date(Date.parse(now) - EXPECTED_SENDER_MS).toISOString()
  const sessions = new Map<string, number>()
  for (const { liveId, at, needs } of openOf(state, worker)) {
    const [model] = needs ?? []
    if (model !== undefined && (active.has(liveId) || at > since)) sessions.set(model, (sessions.get(model) ?? 0) + 1)
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

/**
 * Returns the lanes that one more session of `model` needs and finds on a worker. A session runs one pass at a time, so
 * `freeLanes` is at most 1.
 */
export const lanesFor = (
  state: AdmissionState,
  candidate: { readonly worker: string; readonly compute?: Compute } | undefined,
  model: string | undefined,
  now: string,
): Lanes => {
  if (candidate?.compute === undefined || model === undefined) return NOT_MEASURED
  const { worker, compute } = candidate
  const { name: device, lanes } = compute.deviceOf(model)
  const neededLanes = compute.shareOf(model)
  if (lanes === Infinity) return { neededLanes, freeLanes: Infinity }
  const left = lanes - takenLanes(state, { worker, device }, compute, now)
  return { neededLanes, freeLanes: Math.min(1, Math.max(0, left)) }
}

/** Returns the lanes of the worker with the most free lanes. */
export const withMostFreeLanes = (lanes: ReadonlyArray<Lanes>): Lanes => {
  const [{ neededLanes, freeLanes } = NOT_MEASURED] = lanes.toSorted((a, b) => b.freeLanes - a.freeLanes)
  return { neededLanes, freeLanes }
}
