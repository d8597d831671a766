import * as t from 'io-ts'
import {
  type Catalogue, type Language, type Model, NO_ABILITIES, type TranslationPair,
} from '../../../application/ports/catalogue.ts'
import type { LiveFacts, LiveView, UserView } from '../../../application/ports/read-models.ts'
import { mapInSlices } from '../../../application/concurrency.ts'
import type { AdminLive } from '../../../application/lives/admin-live.ts'
import { AUTO_LANGUAGE } from '../../../application/pipeline/pipeline.ts'
import type { Page, PageQuery } from '../../../application/ports/documents.ts'
import { audioFormat } from '../../../domain/live/events.ts'
import { writtenLanguage } from '../../../domain/live/settings.ts'
import { NO_VOCABULARY } from '../../../domain/live/vocabulary.ts'
import { boundedInteger, instant } from '../../../domain/shared/codecs.ts'
import { permission } from '../../../domain/user/events.ts'
import { embedSnippet } from './embed-snippet.ts'
import { listedSettingsView, presentSettings, settingsView } from './settings-codec.ts'
import type { RequestFacts } from '../clients/request-facts.ts'

export const count = boundedInteger(0, Number.MAX_SAFE_INTEGER)
export const nullable = <A>(codec: t.Type<A>): t.Type<A | null> => t.union([codec, t.null])
export const dates = { created_at: instant, updated_at: nullable(instant) }

export const roundToMs = (seconds: number): number => Math.round(seconds * 1000) / 1000

export const modelMembers = { id: count, name: t.string, active: t.boolean, vram: count, ...dates }
export const modelView = t.strict(modelMembers, 'Model')
const languageMembers = { id: count, iso_639_1: t.string, name: t.string, active: t.boolean }
export const languageView = t.strict({ ...languageMembers, ...dates }, 'Language')
const pairLanguage = t.strict(languageMembers, 'PairLanguage')
export const pairMembers = {
  id: count, model: t.string, active: t.boolean, vram: count, lang_from: pairLanguage, lang_to: pairLanguage, ...dates,
}
export const translationView = t.strict(pairMembers, 'TranslationPair')

const liveMembers = <Settings extends t.Mixed>(config: Settings) => ({
  id: count,
  status: t.keyof({ pending: null, active: null, finished: null, error: null }),
  live_retention: t.boolean,
  audio_format: audioFormat,
  audio_url: nullable(t.string),
  auto_start: t.boolean,
  auto_start_pid: nullable(count),
  vram: count,
  iframe_html: nullable(t.string),
  sender_token: t.string,
  listener_token: t.string,
  base_url: t.string,
  relative_path: t.string,
  config,
  model: modelView,
  language: languageView,
  translations: t.readonlyArray(translationView),
  ...dates,
})

/** A session as its owner sees it. */
export const liveView = t.strict(liveMembers(settingsView), 'LiveSession')

/** A session in a list of its owner. */
export const listedLiveView = t.strict(liveMembers(listedSettingsView), 'ListedLiveSession')

/** A session as administrators see it, without its tokens and audio URL. */
export const adminLiveView = t.strict(
  {
    id: count,
    user_id: count,
    username: t.string,
    status: t.keyof({ pending: null, active: null, finished: null, error: null }),
    live_retention: t.boolean,
    audio_format: audioFormat,
    auto_start: t.boolean,
    auto_start_pid: nullable(count),
    vram: count,
    /** Delay of the text behind the audio, in seconds. Null when the session does not run. */
    lag: nullable(t.number),
    config: listedSettingsView,
    model: modelView,
    language: languageView,
    translations: t.readonlyArray(translationView),
    ...dates,
  },
  'AdminLiveSession',
)

export const userView = t.strict(
  {
    id: count,
    username: t.string,
    permissions: t.readonlyArray(permission),
    max_sessions: count,
    max_translations: count,
    is_active: t.boolean,
    ...dates,
  },
  'User',
)

/** Response of a command without data. */
export const messageView = t.strict({ message: t.string }, 'Message')

/** Envelope of one resource. */
export const single = <C extends t.Mixed>(codec: C) => t.strict({ data: codec }, `{data: ${codec.name}}`)
const pagination =
  t.strict({ total_items: count, total_pages: count, current_page: count, per_page: count }, 'Pagination')

/** Envelope of a page of a list. */
export const list = <C extends t.Mixed>(codec: C) =>
  t.strict({ data: t.readonlyArray(codec), pagination }, `Page of ${codec.name}`)

/** Puts a page into the envelope of a list. */
export const presentPage = async <A, B>(page: Page<A>, query: PageQuery, present: (item: A) => B) => ({
  data: await mapInSlices(page.items, present),
  pagination: {
    total_items: page.total,
    total_pages: Math.ceil(page.total / query.limit),
    current_page: page.total === 0 ? 1 : Math.floor(query.skip / query.limit) + 1,
    per_page: query.limit,
  },
})

/** Returns one page of a list in memory. */
export const sliceOf = <A>(items: ReadonlyArray<A>, query: PageQuery): Page<A> => ({
  items: items.slice(query.skip, query.skip + query.limit),
  total: items.length,
})

export const presentModel = ({ id, name, active, vram, createdAt, updatedAt }: Model): t.TypeOf<typeof modelView> => ({
  id, name, active, vram, created_at: createdAt, updated_at: updatedAt,
})

const presentPairLanguage = ({ id, iso, name, active }: Language): t.TypeOf<typeof pairLanguage> =>
  ({ id, iso_639_1: iso, name, active })

export const presentLanguage = (language: Language): t.TypeOf<typeof languageView> => ({
  ...presentPairLanguage(language),
  created_at: language.createdAt,
  updated_at: language.updatedAt,
})

/** Replaces a language that is not in the catalogue. */
const unlistedLanguage = (iso: string, createdAt: string): Language => ({
  id: 0, iso, name: iso, active: false, createdAt, updatedAt: null,
})

const automaticLanguage = (createdAt: string): Language => ({
  id: 0, iso: AUTO_LANGUAGE, name: 'Automatic', active: true, createdAt, updatedAt: null,
})

const findLanguage = (catalogue: Catalogue, iso: string, createdAt: string): Language => {
  const all = [...catalogue.languages(), ...catalogue.furtherLanguages(), automaticLanguage(createdAt)]
  return all.find((language) => language.iso === iso) ?? unlistedLanguage(iso, createdAt)
}

export const presentTranslation = (pair: TranslationPair, catalogue: Catalogue): t.TypeOf<typeof translationView> => ({
  id: pair.id,
  model: pair.model,
  active: pair.active,
  vram: pair.vram,
  lang_from: presentPairLanguage(findLanguage(catalogue, pair.from, pair.createdAt)),
  lang_to: presentPairLanguage(findLanguage(catalogue, pair.to, pair.createdAt)),
  created_at: pair.createdAt,
  updated_at: pair.updatedAt,
})

/** A model that was removed is shown as inactive, with its data from the creation of the session. */
const nestedModel = (live: LiveFacts, catalogue: Catalogue): Model =>
  catalogue.models().find((model) => model.id === live.model.id) ?? {
    ...live.model, active: false, ...NO_ABILITIES, createdAt: live.createdAt, updatedAt: null,
  }

/** A translation pair that was removed is shown like a removed model. */
const nestedPair = (live: LiveFacts, pair: LiveFacts['translations'][number], catalogue: Catalogue): TranslationPair =>
  catalogue.translations().find(({ id }) => id === pair.id) ?? {
    from: writtenLanguage(live.language, live.config), ...pair, active: false,
    createdAt: live.createdAt, updatedAt: null,
  }

/** The members at the end of both views of a session: what was requested when it was created, and the dates. */
const presentCreation = (live: LiveFacts, catalogue: Catalogue) => ({
  model: presentModel(nestedModel(live, catalogue)),
  language: presentLanguage(findLanguage(catalogue, live.language, live.createdAt)),
  translations: live.translations.map((pair) => presentTranslation(nestedPair(live, pair, catalogue), catalogue)),
  created_at: live.createdAt,
  updated_at: live.updatedAt,
})

/** Presents a session to its owner, with addresses that the client can reach. */
export const presentLive = (
  live: LiveView,
  catalogue: Catalogue,
  { baseUrl, pagesUrl, strict }: Pick<RequestFacts, 'baseUrl' | 'pagesUrl' | 'strict'>,
): t.TypeOf<typeof liveView> => ({
  id: live.id,
  status: live.status,
  live_retention: live.retention,
  audio_format: live.audioFormat,
  audio_url: live.audioUrl,
  auto_start: live.autoStart,
  auto_start_pid: live.autoStartPid,
  vram: live.vram,
  iframe_html: embedSnippet(live, pagesUrl),
  sender_token: live.senderToken,
  listener_token: live.listenerToken,
  base_url: baseUrl,
  relative_path: `/ws/live/${live.id}`,
  config: presentSettings(live.config, live.vocabulary ?? NO_VOCABULARY, strict),
  ...presentCreation(live, catalogue),
})

/** Presents a session in a list of its owner. */
export const presentListedLive: (...args: Parameters<typeof presentLive>) => t.TypeOf<typeof listedLiveView> =
  (live, catalogue, facts) => presentLive({ ...live, vocabulary: NO_VOCABULARY }, catalogue, facts)

export const presentAdminLive = (
  live: AdminLive,
  catalogue: Catalogue,
  { strict }: Pick<RequestFacts, 'strict'>,
): t.TypeOf<typeof adminLiveView> => ({
  id: live.id,
  user_id: live.userId,
  username: live.username,
  status: live.status,
  live_retention: live.retention,
  audio_format: live.audioFormat,
  auto_start: live.autoStart,
  auto_start_pid: live.autoStartPid,
  vram: live.vram,
  lag: live.lag === null ? null : roundToMs(live.lag),
  config: presentSettings(live.config, NO_VOCABULARY, strict),
  ...presentCreation(live, catalogue),
})

export const presentUser = (user: UserView): t.TypeOf<typeof userView> => ({
  id: user.id,
  username: user.username,
  permissions: user.permissions,
  max_sessions: user.maxSessions,
  max_translations: user.maxTranslations,
  is_active: user.isActive,
  created_at: user.createdAt,
  updated_at: user.updatedAt,
})
