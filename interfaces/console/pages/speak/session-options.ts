import { signal } from '@preact/signals'
import type { CreateLiveRequest, Language, Model, Profile, TranslationPair } from '../../../client/operations.ts'
import { DEFAULT_SETTINGS, settingsOf, type TypedSettings } from '../../components/settings-fields.ts'
import { address } from '../../state/address.ts'
import { call } from '../../state/api.ts'

export const SOURCES = ['microphone', 'sample', 'file', 'url', 'program'] as const
export type Source = (typeof SOURCES)[number]

export interface SessionOptions {
  readonly source: Source
  readonly device: string
  readonly reduceNoise: boolean
  readonly file: File | null
  readonly inRealTime: boolean
  readonly urlKind: 'hls' | 'rtmp' | 'rtsp'
  readonly url: string
  readonly model: string
  readonly language: string
  /** Codes of the target languages. */
  readonly into: ReadonlyArray<string>
  readonly settings: TypedSettings
  /** False: the service uses its default settings. */
  readonly hasSettings: boolean
  readonly keepText: boolean
  readonly listenerToken: string
  /** False: embedded captions have their default colours and size. */
  readonly hasLook: boolean
  readonly background: string
  readonly textColor: string
  readonly textSize: string
}

const sourceIn = (query: URLSearchParams): Source | null =>
  SOURCES.find((source) => source === query.get('source')) ?? null

/** `source` is null until the user or the URL chooses a source. */
type Chosen = Omit<SessionOptions, 'source'> & { readonly source: Source | null }

const initialOptions = (): Chosen => {
  const { query } = address.peek()
  return {
    source: sourceIn(query), device: '', reduceNoise: true, file: null, inRealTime: true, urlKind: 'hls', url: '',
    model: query.get('model') ?? '', language: query.get('language') ?? '',
    into: query.get('into')?.split(',').filter((code) => code !== '') ?? [],
    settings: DEFAULT_SETTINGS, hasSettings: false, keepText: false, listenerToken: '',
    hasLook: false, background: '#000000', textColor: '#ffffff', textSize: '28',
  }
}

export const chosen = signal(initialOptions())

export const choose = (changed: Partial<SessionOptions>): void => {
  chosen.value = { ...chosen.value, ...changed }
}

/** The available models, languages and profiles. */
export interface Choices {
  readonly models: ReadonlyArray<Model>
  readonly pairs: ReadonlyArray<TranslationPair>
  readonly profiles: ReadonlyArray<Profile>
  /** Languages by model. */
  readonly languages: Readonly<Record<string, ReadonlyArray<Language>>>
}

export const BUNDLED_MODEL = 'demo-en'
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
    languages: Object.fromEntries(
      languages.map(([name, known]) => [name, known.filter((language) => language.active)]),
    ),
  }
}

/** Returns the wanted value if it is available, otherwise the first available value. */
const wantedOrFirst = (wanted: string, all: ReadonlyArray<string>): string =>
  all.includes(wanted) ? wanted : (all[0] ?? '')

export const targetsOf = ({ pairs }: Choices, language: string): ReadonlyArray<string> =>
  Array.from(new Set(
    pairs
      .filter(({ lang_from: from }) => language === 'auto' || from.iso_639_1 === language)
      .map(({ lang_to: to }) => to.iso_639_1),
  ))

/**
 * Returns the chosen options, with unavailable values replaced. Installed models come before the bundled demo model,
 * which does not understand human speech.
 */
export const availableOptions = (choices: Choices): SessionOptions => {
  const wanted = chosen.value
  const names = choices.models.map(({ name }) => name)
    .toSorted((a, b) => Number(a === BUNDLED_MODEL) - Number(b === BUNDLED_MODEL))
  const model = wantedOrFirst(wanted.model, names)
  const spoken = (choices.languages[model] ?? []).map(({ iso_639_1: iso }) => iso)
  const available = spoken.length > 1 ? ['auto', ...spoken] : spoken
  const language = available.includes(wanted.language) ? wanted.language : wantedOrFirst('en', spoken)
  const targets = targetsOf(choices, language)
  return {
    ...wanted,
    source: wanted.source ?? (model === BUNDLED_MODEL ? 'sample' : 'microphone'),
    model,
    language,
    into: wanted.into.filter((code) => targets.includes(code)),
  }
}

export const requestOf = (options: SessionOptions): CreateLiveRequest => ({
  model: options.model,
  language: options.language,
  ...(options.source === 'url' && { audio_format: options.urlKind, audio_url: options.url, auto_start: true }),
  ...(options.into.length > 0 && { translations: options.into }),
  ...(options.hasSettings && { config: settingsOf(options.settings) }),
  ...(options.keepText && { live_retention: true }),
  ...(options.listenerToken !== '' && { listener_token: options.listenerToken }),
  ...(options.hasLook && {
    background_color: options.background.slice(1), color_text: options.textColor.slice(1),
    size_text: Number(options.textSize),
  }),
})
