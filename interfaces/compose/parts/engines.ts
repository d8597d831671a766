import { listInstalled } from '../../../application/catalogue/commands/list-installed.ts'
import { openCatalogue } from '../../../infrastructure/catalogue/catalogue.ts'
import { BUNDLED_MODELS } from '../../../infrastructure/catalogue/installed-models.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { createTranslationEngine } from '../../../infrastructure/onnx/process/translation-client.ts'
import { modelsDirOf } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import { watchLoads } from '../watch-loads.ts'
import type { Foundation } from './foundation.ts'

export type Engines = Awaited<ReturnType<typeof startEngines>>

/** The models that are installed, and the processes that run them. */
export const startEngines = ({ settings, store, environment, logger }: Foundation) =>
  assemble(async (opened) => {
    const [modelsDir, mayBeMissing] = [modelsDirOf(settings), settings.modelsDir === null]
    const list = listInstalled({ store, environment, logger })
    const installed = await openCatalogue({ listInstalled: list, logger, modelsDir, mayBeMissing, bundledDir: BUNDLED_MODELS })
    const { engine, translator, failing, loads } = watchLoads(
      createSpeechEngine({ ...installed.speech, logger }),
      createTranslationEngine({ ...installed.translation, logger }),
    )
    opened({ stop: engine.close })
    opened({ stop: translator.close })
    return { installed, engine, failing, loads, isLoaded: (model: string) => loads(model) === true, translator }
  })
