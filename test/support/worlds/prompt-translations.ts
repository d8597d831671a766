import { createTranslations, type Translations } from '../../../application/pipeline/translations.ts'
import { silentLogger } from '../doubles/loggers.ts'
import { createScriptedTranslator } from '../doubles/scripted/translator.ts'

/** Translations that are ready at once, for tests that do not test translations. */
export const promptTranslations = (): Translations =>
  createTranslations({ engine: createScriptedTranslator({ answers: true }), monotonic: () => 0, logger: silentLogger })
