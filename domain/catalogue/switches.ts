import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { instant } from '../shared/codecs.ts'
import type { Decider } from '../shared/decider.ts'
import type { CatalogueEvent } from './events.ts'

export type ReferenceKind = 'model' | 'language' | 'translation'

interface Switch {
  readonly active: boolean
  readonly at: string
}

/** The switches that administrators set, by kind and id. */
export type Switches = Readonly<Record<ReferenceKind, Readonly<Record<number, Switch>>>>

const switchesOfKind = t.record(t.string, t.strict({ active: t.boolean, at: instant }))
const switches: t.Type<Switches, unknown> =
  t.strict({ model: switchesOfKind, language: switchesOfKind, translation: switchesOfKind })

export interface SwitchReference {
  readonly kind: ReferenceKind
  readonly id: number
  readonly active: boolean
  readonly at: string
}

const eventOf = ({ kind, id, active, at }: SwitchReference): CatalogueEvent => {
  switch (kind) {
    case 'model':
      return { type: 'ModelSwitched', data: { modelId: id, active, at } }
    case 'language':
      return { type: 'LanguageSwitched', data: { languageId: id, active, at } }
    case 'translation':
      return { type: 'TranslationPairSwitched', data: { pairId: id, active, at } }
  }
}

const evolve = (state: Switches, event: CatalogueEvent): Switches => {
  switch (event.type) {
    case 'ModelSwitched':
      return { ...state, model: { ...state.model, [event.data.modelId]: event.data } }
    case 'LanguageSwitched':
      return { ...state, language: { ...state.language, [event.data.languageId]: event.data } }
    case 'TranslationPairSwitched':
      return { ...state, translation: { ...state.translation, [event.data.pairId]: event.data } }
    case 'ModelListed':
    case 'TranslationPairListed':
      return state
  }
}

/** Administrators switch models, languages and translations off and on. Everything is on at first. */
export const switchesDecider: Decider<Switches, SwitchReference, CatalogueEvent, never> = {
  initialState: { model: {}, language: {}, translation: {} },
  evolve,
  decide: (command, state) => {
    const isActive = state[command.kind][command.id]?.active ?? true
    return E.right(isActive === command.active ? [] : [eventOf(command)])
  },
  snapshots: { version: 1, codec: switches, keyOf: () => null, isKept: false },
}
