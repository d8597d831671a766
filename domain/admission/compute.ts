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
): number =>
  openOf(state, worker)
    .filter(({ liveId, at }) => active.has(liveId) || Date.parse(now) - Date.parse(at) < EXPECTED_MS)
    .flatMap(({ needs }) => needs?.[0] ?? [])
    .filter((model) => deviceOf(model).name === device)
    .reduce((sum, model) => sum + shareOf(model), 0)

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
  const left = lanes - takenLanes(state, { worker, device }, compute, now)
  const freeLanes = lanes === Infinity ? Infinity : Math.min(1, Math.max(0, left))
  return { neededLanes: compute.shareOf(model), freeLanes }
}

/** Those of the worker with the most left. */
export const mostOf = (all: ReadonlyArray<Lanes>): Lanes => {
  const [{ neededLanes, freeLanes } = MEASURED_BY_NOBODY] = all.toSorted((one, other) => other.freeLanes - one.freeLanes)
  return { neededLanes, freeLanes }
}
