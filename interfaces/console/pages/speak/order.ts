import { signal } from '@preact/signals'
import type { CreateLiveRequest, Language, Model, Profile, TranslationPair } from '../../../client/operations.ts'
import { settingsOf, USUAL_SETTINGS } from '../../components/settings-fields.ts'
import type { TypedSettings } from '../../components/settings-fields.ts'
import { address } from '../../state/address.ts'
import { call } from '../../state/api.ts'

export const SOURCES = ['microphone', 'sample', 'file', 'url', 'program'] as const
export type Source = (typeof SOURCES)[number]

/** What is chosen for the next session. */
export interface Order {
  readonly source: Source
  readonly device: string
  readonly reduceNoise: boolean
  readonly file: File | null
  readonly inRealTime: boolean
  readonly urlKind: 'hls' | 'rtmp' | 'rtsp'
  readonly url: string
  readonly model: string
  readonly language: string
  readonly into: ReadonlyArray<string>
  readonly settings: TypedSettings
  /** False leaves them to the service. */
  readonly hasSettings: boolean
  readonly keepText: boolean
  readonly listenerToken: string
  readonly hasLook: boolean
  readonly background: string
  readonly textColor: string
  readonly textSize: string
}

const sourceIn = (query: URLSearchParams): Source | null => SOURCES.find((source) => source === query.get('source'))
  ?? null

/** Chosen before there was an address that says something else; `source` is null until somebody chose one. */
const first = (): Omit<Order, 'source'> & { readonly source: Source | null } => {
  const { query } = address.peek()
  return {
    source: sourceIn(query), device: '', reduceNoise: true, file: null, inRealTime: true, urlKind: 'hls', url: '',
    model: query.get('model') ?? '', language: query.get('language') ?? '',
    into: query.get('into')?.split(',').filter((one) => one !== '') ?? [],
    settings: USUAL_SETTINGS, hasSettings: false, keepText: false, listenerToken: '',
    hasLook: false, background: '#000000', textColor: '#ffffff', textSize: '28',
  }
}

export const chosen = signal(first())

export const choose = (changed: Partial<Order>): void => {
  chosen.value = { ...chosen.value, ...changed }
}

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

/** The request that creates the session. */
export const requestOf = (order: Order): CreateLiveRequest => ({
  model: order.model,
  language: order.language,
  ...(order.source === 'url' && { audio_format: order.urlKind, audio_url: order.url, auto_start: true }),
  ...(order.into.length > 0 && { translations: order.into }),
  ...(order.hasSettings && { config: settingsOf(order.settings) }),
  ...(order.keepText && { live_retention: true }),
  ...(order.listenerToken !== '' && { listener_token: order.listenerToken }),
  ...(order.hasLook && {
    background_color: order.background.slice(1), color_text: order.textColor.slice(1),
    size_text: Number(order.textSize),
  }),
})
