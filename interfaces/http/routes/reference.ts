import * as E from 'fp-ts/lib/Either.js'
import type { Catalogue, Model } from '../../../application/ports/catalogue.ts'
import * as t from 'io-ts'
import { INTERFACE_VERSION } from '../interface-version.ts'
import {
  languageView, list, presentLanguage, presentPage, presentTranslation, sliceOf, translationView,
} from '../codecs/presenters.ts'
import { listedModelView, presentListedModel } from '../codecs/model-codecs.ts'
import { languagesQuery, modelsQuery, pageOf, translationsQuery } from '../codecs/request-codecs.ts'
import { publicRoute, type Route } from '../route.ts'

export interface ReferenceCalls {
  readonly catalogue: Catalogue
}

const matches = (filter: string | null, value: string): boolean => filter === null || filter === value

const listLanguages = publicRoute(
  {
    operationId: 'listLanguages',
    summary: 'List the languages, or the languages of one model',
    method: 'GET',
    path: '/languages',
    query: languagesQuery,
    response: { codec: list(languageView) },
    refusals: ['ModelNotFound'],
  },
  async ({ query }, { catalogue }: ReferenceCalls) => {
    const ofModel = query.model === null ? null : catalogue.models().find(({ name }) => name === query.model)?.languages
    if (ofModel === undefined) return E.left({ _tag: 'ModelNotFound' } as const)
    const matching = catalogue.languages().filter(({ name, iso }) =>
      matches(query.name, name) && matches(query.iso_639_1, iso) && (ofModel === null || ofModel.includes(iso)))
    const page = pageOf(query)
    return E.right(await presentPage(sliceOf(matching, page), page, presentLanguage))
  },
)

const listModels = publicRoute(
  {
    operationId: 'listModels',
    summary: 'List the transcription models',
    method: 'GET',
    path: '/models',
    query: modelsQuery,
    response: { codec: list(listedModelView) },
    refusals: [],
  },
  async ({ query, facts }, { catalogue }: ReferenceCalls) => {
    const page = pageOf(query)
    const matching = catalogue.models().filter(({ name }) => matches(query.name, name))
    const present = (model: Model) => presentListedModel(model, facts.strict)
    return E.right(await presentPage(sliceOf(matching, page), page, present))
  },
)

const listTranslations = publicRoute(
  {
    operationId: 'listTranslations',
    summary: 'List the translation pairs',
    method: 'GET',
    path: '/translations',
    query: translationsQuery,
    response: { codec: list(translationView) },
    refusals: [],
  },
  async ({ query }, { catalogue }: ReferenceCalls) => {
    const matching = catalogue.translations().filter(({ from, to }) =>
      matches(query.lang_from, from) && matches(query.lang_to, to))
    const page = pageOf(query)
    return E.right(await presentPage(sliceOf(matching, page), page, (pair) => presentTranslation(pair, catalogue)))
  },
)

const version = publicRoute(
  {
    operationId: 'getVersion',
    summary: 'Get the version of the interface',
    method: 'GET',
    path: '/version',
    response: { codec: t.strict({ version: t.string }, 'Version') },
    refusals: [],
  },
  async () => E.right({ version: INTERFACE_VERSION }),
)

export const referenceRoutes: ReadonlyArray<Route<ReferenceCalls>> =
  [listLanguages, listModels, listTranslations, version]
