import * as E from 'fp-ts/lib/Either.js'
import { passTimeOf, shareOf } from '../../application/admission/measured-compute.ts'
import { listInstalled } from '../../application/catalogue/commands/list-installed.ts'
import { offeredCatalogue } from '../../application/catalogue/offered-catalogue.ts'
import { createEnginePool, type EnginePool } from '../../application/pipeline/engine-pool.ts'
import type { ListInstalled } from '../../application/ports/catalogue.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { TranslationEngine } from '../../application/ports/translation-engine.ts'
import { type InstalledCatalogue, openCatalogue } from '../../infrastructure/catalogue/catalogue.ts'
import { BUNDLED_MODELS } from '../../infrastructure/catalogue/installed-models.ts'
import { FURTHER_LANGUAGES, LANGUAGE_ROWS } from '../../infrastructure/catalogue/languages.ts'
import { lookAtModels, watchModels } from '../../infrastructure/catalogue/watch-models.ts'
import { startSpeechEngines } from '../../infrastructure/onnx/process/engine-client.ts'
import { createTranslationEngine } from '../../infrastructure/onnx/process/translation-client.ts'
import { findEngineGpus } from '../../infrastructure/onnx/providers/engine-gpus.ts'
import { memoryOfEngines } from '../../infrastructure/onnx/providers/engine-memory.ts'
import { modelsDirOf } from '../../infrastructure/settings/settings.ts'
import { assemble, type Part } from './assemble.ts'
import type { Foundation } from './foundation.ts'
import { runStartWork } from './start-step.ts'

/** The engines of this process. */
export interface OwnEngines {
  /** Models that are installed on this machine. */
  readonly installed: InstalledCatalogue
  readonly pool: EnginePool
  readonly translator: TranslationEngine
  readonly isLoaded: (model: string) => boolean
}

/** The models of the service, as this process knows them. */
export interface Engines {
  /** Null in a process without the role `worker`. */
  readonly own: OwnEngines | null
  /** Models, languages and pairs for new sessions, including those that administrators have switched off. */
  readonly catalogue: Pick<InstalledCatalogue, 'models' | 'languages' | 'furtherLanguages' | 'translations'>
  /** Model files of this machine. In a process without the role `worker`: the models of the workers. */
  readonly files: Pick<InstalledCatalogue, 'onDisk' | 'rescan' | 'folderOf'>
  /** Models whose last load in this process failed. */
  readonly failing: () => ReadonlyArray<string>
  /** Result of the last load of a model in this process. Null before the first load. */
  readonly loads: (model: string) => boolean | null
}

export interface WorkerEngines extends Engines {
  readonly own: OwnEngines
}

/** Engines whose loads are watched, and how the last load of each model went. */
interface WatchedEngines {
  readonly engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>]
  readonly translator: TranslationEngine
  /** Speech models whose last attempt to load failed. */
  readonly failing: () => ReadonlyArray<string>
  /** Result of the last attempt to load a model. Null before the first attempt. */
  readonly loads: (model: string) => boolean | null
}

/** Notes how the loads of models go. */
const watchModelLoads = (
  engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>],
  translator: TranslationEngine,
): WatchedEngines => {
  const speech = new Map<string, boolean>()
  const translation = new Map<string, boolean>()
  const watched = (engine: SpeechEngine): SpeechEngine => ({
    ...engine,
    load: async (model) => {
      const loaded = await engine.load(model)
      speech.set(model, E.isRight(loaded))
      return loaded
    },
    transcribe: async (job, signal) => {
      const transcribed = await engine.transcribe(job, signal)
      if (E.isLeft(transcribed) && transcribed.left._tag === 'ModelLoadFailed') speech.set(job.model, false)
      return transcribed
    },
  })
  const [first, ...others] = engines
  return {
    engines: [watched(first), ...others.map(watched)],
    translator: {
      ...translator,
      load: async (model) => {
        const loaded = await translator.load(model)
        translation.set(model, E.isRight(loaded))
        return loaded
      },
      translate: async (job) => {
        const translated = await translator.translate(job)
        if (E.isLeft(translated) && translated.left._tag === 'ModelLoadFailed') translation.set(job.model, false)
        return translated
      },
    },
    failing: () => [...speech].flatMap(([model, loaded]) => (loaded ? [] : [model])).sort(),
    loads: (model) => speech.get(model) ?? translation.get(model) ?? null,
  }
}

const LANGUAGES = { languages: () => LANGUAGE_ROWS, furtherLanguages: () => FURTHER_LANGUAGES }

const notAWorker = (): Promise<never> =>
  Promise.reject(new Error('this process has no models: run the command on the machine of a worker'))

/** Opens the models of this machine and starts the processes that run them. */
const startOwn = (foundation: Foundation, isShared: boolean): Promise<WorkerEngines & Part> =>
  assemble(async (opened) => {
    const { settings, store, environment, timers, logger, stores: { members } } = foundation
    const [modelsDir, mayBeMissing] = [modelsDirOf(settings), settings.modelsDir === null]
    // The folder is examined before the models are listed, so a change during the listing is noticed.
    const seen = isShared ? await lookAtModels(modelsDir) : null
    const listed = listInstalled({ store, environment, logger })
    const list: ListInstalled = (names, pairs) => runStartWork('list the installed models', () => listed(names, pairs))
    const folders = { modelsDir, mayBeMissing, bundledDir: BUNDLED_MODELS }
    const installed = await openCatalogue({ listInstalled: list, logger, ...folders })
    // A worker without the role `api` gets no rescan requests, so the workers of a cluster watch their models folder.
    if (seen !== null) opened(watchModels({ modelsDir, seen, rescan: installed.rescan, timers, logger }))
    const gpus = await findEngineGpus()
    const vrams = await memoryOfEngines(settings.vramMb, gpus)
    const { engines, translator, failing, loads } = watchModelLoads(
      startSpeechEngines({ ...installed.speech, logger }, gpus),
      createTranslationEngine({ ...installed.translation, logger }),
    )
    const pool = createEnginePool({
      engines, vrams,
      shareOn: (engine, model) => shareOf(passTimeOf(engine, installed)(model)),
    })
    opened({ stop: pool.whole.close })
    opened({ stop: translator.close })
    const own = { installed, pool, translator, isLoaded: (model: string) => loads(model) === true }
    // In a cluster, another worker may run a new session, so the catalogue includes the models of all workers.
    const catalogue = isShared
      ? offeredCatalogue({ members, environment, languages: LANGUAGES, own: installed })
      : installed
    return { own, catalogue, files: installed, failing, loads }
  })

/** In a process without the role `worker`, the catalogue contains the models of the workers. */
const withoutEngines = ({ environment, stores: { members } }: Foundation): Engines => {
  const catalogue = offeredCatalogue({ members, environment, languages: LANGUAGES })
  return {
    own: null,
    catalogue,
    files: { onDisk: { ...catalogue.onDisk, hide: notAWorker }, rescan: notAWorker, folderOf: () => undefined },
    failing: () => [],
    loads: () => null,
  }
}

/** Starts the engines of a single process. */
export const startEngines = (foundation: Foundation): Promise<WorkerEngines & Part> => startOwn(foundation, false)

/** Starts the engines of a worker. A process without the role `worker` only learns the models of the workers. */
export const startEnginesInCluster = (foundation: Foundation): Promise<Engines & Part> =>
  foundation.settings.role.includes('worker')
    ? startOwn(foundation, true)
    : Promise.resolve({ ...withoutEngines(foundation), stop: () => Promise.resolve() })
