import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Every model name and every translation pair ever seen gets an id here once, so ids stay when folders come and go. */
export const CATALOGUE_STREAM = 'catalogue'

export const ModelListed = defineEvent('ModelListed', t.strict({ modelId: id, name: t.string, at: instant }))
/** A translator is listed once for each pair of languages that it translates. */
export const TranslationPairListed = defineEvent(
  'TranslationPairListed',
  t.strict({ pairId: id, model: t.string, from: t.string, to: t.string, at: instant }),
)

/** An administrator's word on whether new lives may use it; without one they may, as far as it is installed. */
const switched = { active: t.boolean, at: instant }
export const ModelSwitched = defineEvent('ModelSwitched', t.strict({ modelId: id, ...switched }))
export const LanguageSwitched = defineEvent('LanguageSwitched', t.strict({ languageId: id, ...switched }))
export const TranslationPairSwitched = defineEvent('TranslationPairSwitched', t.strict({ pairId: id, ...switched }))

const catalogueEvents = [ModelListed, TranslationPairListed, ModelSwitched, LanguageSwitched, TranslationPairSwitched] as const
export type CatalogueEvent = EventOf<(typeof catalogueEvents)[number]>
