import { openOf } from './state.ts'
import type { AdmissionState } from './state.ts'

/** What a worker measured of its engine. A lane runs one pass at a time. */
export interface Compute {
  /** What sessions of a model run on, and the lanes that they may take there with those of other models; Infinity: as many as they need. */
  readonly deviceOf: (model: string) => { readonly name: string; readonly lanes: number }
  /** Part of a lane that a session of a model takes while somebody speaks; more than 1 where a whole one cannot keep up. */
  readonly shareOf: (model: string) => number
  /** Lives that have a sender or a source. */
  readonly active: ReadonlySet<number>
}

/** A live that nobody sends to yet counts for so long as if somebody did: its sender is about to come. */
const EXPECTED_MS = 60_000

/** Lanes of a worker's device that its sessions take. */
export const takenLanes = (
  state: AdmissionState,
  { worker, device }: { readonly worker: string; readonly device: string },
  { deviceOf, shareOf, active }: Compute,
  now: string,
): number => {
  // Instants of one form sort as text: reading thousands of them with each create would take milliseconds.
  const since = new Date(Date.parse(now) - EXPECTED_MS).toISOString()
  const sessions = new Map<string, number>()
  for (const { liveId, at, needs } of openOf(state, worker)) {
    const [model] = needs ?? []
    if (model !== undefined && (active.has(liveId) || at > since)) sessions.set(model, (sessions.get(model) ?? 0) + 1)
  }
  return [...sessions]
    .filter(([model]) => deviceOf(model).name === device)
    .reduce((sum, [model, count]) => sum + count * shareOf(model), 0)
}

/** What one more session needs of a worker's lanes, and what is left for it. */
export interface Lanes {
  readonly neededLanes: number
  readonly freeLanes: number
}

const MEASURED_BY_NOBODY: Lanes = { neededLanes: 0, freeLanes: Infinity }

/** No more than one lane is free for a session, which runs one pass at a time. */
export const lanesFor = (
  state: AdmissionState,
  asked: { readonly worker: string; readonly compute?: Compute } | undefined,
  model: string | undefined,
  now: string,
): Lanes => {
  if (asked?.compute === undefined || model === undefined) return MEASURED_BY_NOBODY
  const { worker, compute } = asked
  const { name: device, lanes } = compute.deviceOf(model)
  const neededLanes = compute.shareOf(model)
  if (lanes === Infinity) return { neededLanes, freeLanes: Infinity }
  const left = lanes - takenLanes(state, { worker, device }, compute, now)
  return { neededLanes, freeLanes: Math.min(1, Math.max(0, left)) }
}

/** Those of the worker with the most left. */
export const mostOf = (all: ReadonlyArray<Lanes>): Lanes => {
  const [{ neededLanes, freeLanes } = MEASURED_BY_NOBODY] = all.toSorted((one, other) => other.freeLanes - one.freeLanes)
  return { neededLanes, freeLanes }
}
