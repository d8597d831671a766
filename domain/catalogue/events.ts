import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/**
 * Gives each model name and each translation pair its id once, so ids stay when folders are removed and added again.
 */
export const CATALOGUE_STREAM = 'catalogue'

export const ModelListed = defineEvent('ModelListed', t.strict({ modelId: id, name: t.string, at: instant }))
/** A translator is listed once for each pair of languages. */
export const TranslationPairListed = defineEvent(
  'TranslationPairListed',
  t.strict({ pairId: id, model: t.string, from: t.string, to: t.string, at: instant }),
)

/** An administrator allowed or forbade this entry for new sessions. Without such an event it is allowed. */
const switched = { active: t.boolean, at: instant }
export const ModelSwitched = defineEvent('ModelSwitched', t.strict({ modelId: id, ...switched }))
export const LanguageSwitched = defineEvent('LanguageSwitched', t.strict({ languageId: id, ...switched }))
export const TranslationPairSwitched = defineEvent('TranslationPairSwitched', t.strict({ pairId: id, ...switched }))

const catalogueEvents = [
  ModelListed, TranslationPairListed, ModelSwitched, LanguageSwitched, TranslationPairSwitched,
] as const
export type CatalogueEvent = EventOf<(typeof catalogueEvents)[number]>
