import { listInstalled } from '../../../application/catalogue/commands/list-installed.ts'
import { offeredCatalogue } from '../../../application/catalogue/offered-catalogue.ts'
import type { ListInstalled } from '../../../application/ports/catalogue.ts'
import { shareOf, timedBy } from '../../../application/admission/measured-compute.ts'
import { createEnginePool } from '../../../application/pipeline/engine-pool.ts'
import type { EnginePool } from '../../../application/pipeline/engine-pool.ts'
import type { TranslationEngine } from '../../../application/ports/translation-engine.ts'
import { openCatalogue } from '../../../infrastructure/catalogue/catalogue.ts'
import type { InstalledCatalogue } from '../../../infrastructure/catalogue/catalogue.ts'
import { BUNDLED_MODELS } from '../../../infrastructure/catalogue/installed-models.ts'
import { FURTHER_LANGUAGES, LANGUAGE_ROWS } from '../../../infrastructure/catalogue/languages.ts'
import { lookAtModels, watchModels } from '../../../infrastructure/catalogue/watch-models.ts'
import { startSpeechEngines } from '../../../infrastructure/onnx/process/engine-client.ts'
import { createTranslationEngine } from '../../../infrastructure/onnx/process/translation-client.ts'
import { findEngineGpus } from '../../../infrastructure/onnx/providers/engine-gpus.ts'
import { memoryOfEngines } from '../../../infrastructure/onnx/providers/engine-memory.ts'
import { hasServers, modelsDirOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import type { Part } from '../assemble.ts'
import { succeedAt } from '../succeed.ts'
import { watchLoads } from '../watch-loads.ts'
import type { Foundation } from './foundation.ts'

/** What runs models here. */
export interface OwnEngines {
  /** What is installed on this machine. */
  readonly installed: InstalledCatalogue
  readonly pool: EnginePool
  readonly translator: TranslationEngine
  readonly isLoaded: (model: string) => boolean
}

/** The models of the service, as this process knows them. */
export interface Engines {
  /** Null in a process that is no worker. */
  readonly own: OwnEngines | null
  /** What new sessions can have, before administrators switch any of it off. */
  readonly catalogue: Pick<InstalledCatalogue, 'models' | 'languages' | 'furtherLanguages' | 'translations'>
  /** Of the models of this machine, or those that the workers have. */
  readonly files: Pick<InstalledCatalogue, 'onDisk' | 'rescan' | 'folderOf'>
  /** Models whose last load here failed. */
  readonly failing: () => ReadonlyArray<string>
  /** How the last load here of a model went; null where there was none. */
  readonly loads: (model: string) => boolean | null
}

const LANGUAGES = { languages: () => LANGUAGE_ROWS, furtherLanguages: () => FURTHER_LANGUAGES }

const byWorkersAlone = (): Promise<never> => Promise.reject(new Error('models lie on the machines of workers, and this process is none'))

/** The models that are installed on a worker, and the processes that run them. */
const startOwn = (foundation: Foundation): Promise<Engines & Part> =>
  assemble(async (opened) => {
    const { settings, store, environment, timers, logger, stores: { members } } = foundation
    const [modelsDir, mayBeMissing] = [modelsDirOf(settings), settings.modelsDir === null]
    // Before what is there is listed: what comes meanwhile has changed it.
    const seen = hasServers(settings) ? await lookAtModels(modelsDir) : null
    const listed = listInstalled({ store, environment, logger })
    const list: ListInstalled = (names, pairs) => succeedAt('list what is installed', () => listed(names, pairs))
    const installed = await openCatalogue({ listInstalled: list, logger, modelsDir, mayBeMissing, bundledDir: BUNDLED_MODELS })
    // Of a process that serves no clients nobody can ask it.
    if (seen !== null) opened(watchModels({ modelsDir, seen, rescan: installed.rescan, timers, logger }))
    const gpus = await findEngineGpus()
    const vrams = await memoryOfEngines(settings.vramMb, gpus)
    const { engines, translator, failing, loads } = watchLoads(
      startSpeechEngines({ ...installed.speech, logger }, gpus),
      createTranslationEngine({ ...installed.translation, logger }),
    )
    const pool = createEnginePool({
      engines, vrams,
      shareOn: (engine, model) => shareOf(timedBy(engine, installed)(model)),
    })
    opened({ stop: pool.whole.close })
    opened({ stop: translator.close })
    const own = { installed, pool, translator, isLoaded: (model: string) => loads(model) === true }
    // A new session may be another worker's.
    const catalogue = hasServers(settings)
      ? offeredCatalogue({ members, environment, languages: LANGUAGES, own: installed })
      : installed
    return { own, catalogue, files: installed, failing, loads }
  })

/** What the workers offer, in a process that is none. */
const offeredByOthers = ({ environment, stores: { members } }: Foundation): Engines => {
  const catalogue = offeredCatalogue({ members, environment, languages: LANGUAGES })
  return {
    own: null,
    catalogue,
    files: { onDisk: { ...catalogue.onDisk, hide: byWorkersAlone }, rescan: byWorkersAlone, folderOf: () => undefined },
    failing: () => [],
    loads: () => null,
  }
}

export const startEngines = (foundation: Foundation): Promise<Engines & Part> =>
  foundation.settings.role.includes('worker')
    ? startOwn(foundation)
    : Promise.resolve({ ...offeredByOthers(foundation), stop: () => Promise.resolve() })
