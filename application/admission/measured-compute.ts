import { lanesFor, takenLanes } from '../../domain/admission/compute.ts'
import type { Compute } from '../../domain/admission/compute.ts'
import type { EngineRoom } from '../../domain/admission/engine-rooms.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import type { Catalogue, Model } from '../ports/catalogue.ts'
import type { PassTime, SpeechEngine } from '../ports/engine.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { cadenceOf } from '../pipeline/cadence.ts'
import type { AdmissionActor } from './admission-actor.ts'

/** Seconds of audio that one pass hears at most. */
const WINDOW = 30
/** Usual passes a draft: finals and speech detection add a fifth (whisper-base on recordings), speech is uneven. */
const PASSES_A_DRAFT = 1.4
/** Seconds a megabyte of a model that was never run, as whisper-base takes; the first passes tell better. */
const SECONDS_A_MEGABYTE = 0.001

/**
 * Part of a lane that a session takes while somebody speaks, with the default settings. By the time that a processor was
 * busy where that is known: a pass that waited for other programs has not cost more.
 */
export const shareOf = ({ usual, least, busy = usual }: PassTime): number => {
  // No cadence helps a model that takes longer for audio than that lasts.
  if (least > WINDOW) return least / WINDOW
  return (PASSES_A_DRAFT * busy) / cadenceOf(DEFAULT_ENGINE_SETTINGS.min_buffer, busy)
}

/** What a pass of a model takes; of one that was never run an estimate, which alone never says that it cannot keep up. */
export const timedBy =
  (engine: Pick<SpeechEngine, 'passTime'>, catalogue: Pick<Catalogue, 'models'>) =>
  (model: string): PassTime => {
    const megabytes = catalogue.models().find(({ name }) => name === model)?.vram ?? 0
    return engine.passTime(model) ?? { usual: SECONDS_A_MEGABYTE * megabytes, least: 0 }
  }

export interface MeasuredCompute {
  /** What the worker has for a session of the model, at this moment. */
  readonly forModel: (model: Model, maxDelay: number) => Compute
  /** Lanes that there are, and those that sessions take. */
  readonly lanes: () => number
  readonly taken: () => number
}

interface MeasuredComputeDeps {
  readonly engine: Pick<SpeechEngine, 'passTime' | 'deviceOf'>
  readonly catalogue: Pick<Catalogue, 'models'>
  readonly admission: Pick<AdmissionActor, 'state'>
  readonly environment: Pick<Environment, 'now'>
  readonly logger: Pick<Logger, 'warn'>
  /** Name of this worker. */
  readonly worker: string
  /** Lives that run in this process. */
  readonly running: () => ReadonlyArray<number>
  /** How many times over lanes are given away; 0: as often as somebody asks. */
  readonly overcommit: number
  /** The engines of a process that runs one for each GPU, and their sessions; undefined where it runs one engine. */
  readonly engines?: () => ReadonlyArray<EngineRoom> | undefined
}

/** What the engine of this process can hear in real time, by what passes of its models take (decision 42). */
export const measuredCompute = (deps: MeasuredComputeDeps): MeasuredCompute => {
  const { engine, catalogue, admission, environment, logger, worker, running, overcommit, engines } = deps

  const passOf = timedBy(engine, catalogue)
  const roomsOfEngines = (): Pick<Compute, 'engines'> => {
    const rooms = engines?.()
    return rooms === undefined ? {} : { engines: rooms }
  }
  const present = (factor: number): Compute => ({
    deviceOf: (model) => {
      const { name, lanes } = engine.deviceOf(model)
      return { name, lanes: lanes * factor }
    },
    shareOf: (model) => shareOf(passOf(model)),
    active: new Set(running()),
    ...roomsOfEngines(),
  })

  const devices = (): ReadonlyMap<string, number> =>
    new Map(catalogue.models().map(({ name }) => engine.deviceOf(name)).map(({ name, lanes }) => [name, lanes]))

  return {
    forModel: ({ name }, maxDelay) => {
      const { usual } = passOf(name)
      if (usual > maxDelay) logger.warn({ model: name, passSeconds: usual, maxDelay }, 'passes of the model take longer than max_delay')
      if (overcommit > 0) return present(overcommit)
      const lanes = lanesFor(admission.state(), { worker, compute: present(1) }, name, environment.now())
      if (lanes.neededLanes > lanes.freeLanes) logger.warn({ model: name, ...lanes }, 'more sessions than this machine hears in time')
      return present(Infinity)
    },
    lanes: () => [...devices().values()].reduce((sum, lanes) => sum + lanes, 0),
    taken: () =>
      [...devices().keys()]
        .map((device) => takenLanes(admission.state(), { worker, device }, present(1), environment.now()))
        .reduce((sum, lanes) => sum + lanes, 0),
  }
}
