import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** Every model name ever seen gets an id here once, so ids stay when folders come and go. */
export const CATALOGUE_STREAM = 'catalogue'

export const ModelListed = defineEvent('ModelListed', t.strict({ modelId: id, name: t.string, at: instant }))
export type CatalogueEvent = EventOf<typeof ModelListed>
