import type { Language, Model, Profile, TranslationPair } from '../../../client/operations.ts'
import { call } from '../../state/api.ts'
import { chosen } from './order.ts'
import type { Order } from './order.ts'

/** What can be chosen for a session. */
export interface Choices {
  readonly models: ReadonlyArray<Model>
  readonly pairs: ReadonlyArray<TranslationPair>
  readonly profiles: ReadonlyArray<Profile>
  /** By model. */
  readonly languages: Readonly<Record<string, ReadonlyArray<Language>>>
}

export const SHIPPED = 'demo-en'
const ALL = { query: { limit: 1000 } }

export const loadChoices = async (): Promise<Choices> => {
  const [models, pairs, profiles] = await Promise.all([
    call('listModels', ALL), call('listTranslations', ALL), call('listProfiles', ALL),
  ])
  const active = models.data.filter((model) => model.active)
  const languages = await Promise.all(
    active.map(async ({ name }) =>
      [name, (await call('listLanguages', { query: { model: name, limit: 1000 } })).data] as const),
  )
  return {
    models: active, pairs: pairs.data.filter((pair) => pair.active), profiles: profiles.data,
    languages: Object.fromEntries(languages.map(([name, of]) => [name, of.filter((language) => language.active)])),
  }
}

const oneOf = (wanted: string, all: ReadonlyArray<string>): string => (all.includes(wanted) ? wanted : (all[0] ?? ''))

export const targetsOf = ({ pairs }: Choices, language: string): ReadonlyArray<string> =>
  Array.from(new Set(pairs.filter(({ lang_from: from }) => language === 'auto'
    || from.iso_639_1 === language).map(({ lang_to: to }) => to.iso_639_1)))

/** What is chosen, as far as it can be had; the model that people are understood by comes first. */
export const orderOf = (choices: Choices): Order => {
  const wanted = chosen.value
  const names = choices.models.map(({ name }) => name).toSorted((a, b) => Number(a === SHIPPED) - Number(b === SHIPPED))
  const model = oneOf(wanted.model, names)
  const heard = (choices.languages[model] ?? []).map(({ iso_639_1: iso }) => iso)
  const known = heard.length > 1 ? ['auto', ...heard] : heard
  const language = known.includes(wanted.language) ? wanted.language : oneOf('en', heard)
  const targets = targetsOf(choices, language)
  return {
    ...wanted,
    source: wanted.source ?? (model === SHIPPED ? 'sample' : 'microphone'),
    model,
    language,
    into: wanted.into.filter((one) => targets.includes(one)),
  }
}
