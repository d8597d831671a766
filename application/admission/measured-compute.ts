import { type Compute, lanesFor, takenLanes } from '../../domain/admission/compute.ts'
import type { WorkerEngine } from '../../domain/admission/worker-engines.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import type { Catalogue, Model } from '../ports/catalogue.ts'
import type { PassTime, SpeechEngine } from '../ports/engine.ts'
import type { Logger } from '../ports/environment.ts'
import type { EventStore } from '../ports/event-store.ts'
import { storeInstant } from '../store-time.ts'
import { draftInterval } from '../pipeline/cadence.ts'
import type { AdmissionActor } from './admission-actor.ts'

/** Maximum seconds of audio in one pass. */
const WINDOW_SECONDS = 30
/**
 * Work of a session for each draft, in passes. Finals and speech detection add a fifth to the pass of the draft. The
 * rest is a reserve, because speech is uneven.
 */
const PASSES_PER_DRAFT = 1.4
/** Estimated pass time for each megabyte of a model, until a pass was measured. The value comes from whisper-base. */
const SECONDS_PER_MEGABYTE = 0.001

/**
 * Returns the part of a lane that a session takes during speech, with the default settings. A lane runs one pass at a
 * time. The processor time of a pass is used if it is known, because the elapsed time also contains waits for other
 * programs.
 */
export const shareOf = ({ usual, least, busy = usual }: PassTime): number => {
  // Longer pauses between passes do not help a model that is slower than real time.
  if (least > WINDOW_SECONDS) return least / WINDOW_SECONDS
  return (PASSES_PER_DRAFT * busy) / draftInterval(DEFAULT_ENGINE_SETTINGS.min_buffer, busy)
}

/**
 * Returns the measured pass time of a model, or an estimate before its first pass. An estimate never means that the
 * model is slower than real time.
 */
export const passTimeOf =
  (engine: Pick<SpeechEngine, 'passTime'>, catalogue: Pick<Catalogue, 'models'>) =>
  (model: string): PassTime => {
    const megabytes = catalogue.models().find(({ name }) => name === model)?.vram ?? 0
    return engine.passTime(model) ?? { usual: SECONDS_PER_MEGABYTE * megabytes, least: 0 }
  }

export interface MeasuredCompute {
  readonly forModel: (model: Model, maxDelay: number) => Compute
  /** Number of lanes of all devices. */
  readonly lanes: () => number
  /** Number of lanes that sessions take. */
  readonly taken: () => number
}

interface MeasuredComputeDeps {
  readonly engine: Pick<SpeechEngine, 'passTime' | 'deviceOf'>
  readonly catalogue: Pick<Catalogue, 'models'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly store: Pick<EventStore, 'now'>
  readonly logger: Pick<Logger, 'warn'>
  readonly worker: string
  /** Ids of the sessions that run in this process. */
  readonly running: () => ReadonlyArray<number>
  /** Sessions may take this multiple of the lanes. 0: no limit. */
  readonly overcommit: number
  /**
   * The engines of a process with an engine for each GPU, and their sessions. Undefined: one engine for all sessions.
   */
  readonly engines?: () => ReadonlyArray<WorkerEngine> | undefined
}

/**
 * Calculates how many sessions the engine of this process can transcribe in real time, from its measured pass times.
 */
export const measuredCompute = (deps: MeasuredComputeDeps): MeasuredCompute => {
  const { engine, catalogue, admission, store, logger, worker, running, overcommit, engines } = deps

  const passTime = passTimeOf(engine, catalogue)
  const roomsOfEngines = (): Pick<Compute, 'engines'> => {
    const all = engines?.()
    return all === undefined ? {} : { engines: all }
  }
  /** Returns the present compute, with the lanes multiplied by `factor`. */
  const computeWith = (factor: number): Compute => ({
    deviceOf: (model) => {
      const { name, lanes } = engine.deviceOf(model)
      return { name, lanes: lanes * factor }
    },
    shareOf: (model) => shareOf(passTime(model)),
    active: new Set(running()),
    ...roomsOfEngines(),
  })

  const devices = (): ReadonlyMap<string, number> =>
    new Map(catalogue.models().map(({ name }) => engine.deviceOf(name)).map(({ name, lanes }) => [name, lanes]))

  return {
    forModel: ({ name }, maxDelay) => {
      const { usual } = passTime(name)
      if (usual > maxDelay)
        logger.warn({ model: name, passSeconds: usual, maxDelay }, 'model passes take longer than max_delay')
      if (overcommit > 0) return computeWith(overcommit)
      const lanes = lanesFor(admission.state(), { worker, compute: computeWith(1) }, name, storeInstant(store))
      if (lanes.neededLanes > lanes.freeLanes)
        logger.warn({ model: name, ...lanes }, 'more sessions than this machine can transcribe in real time')
      return computeWith(Infinity)
    },
    lanes: () => [...devices().values()].reduce((sum, lanes) => sum + lanes, 0),
    taken: () =>
      [...devices().keys()]
        .map((device) => takenLanes(admission.state(), { worker, device }, computeWith(1), storeInstant(store)))
        .reduce((sum, lanes) => sum + lanes, 0),
  }
}
