import * as E from 'fp-ts/lib/Either.js'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import * as t from 'io-ts'
import { INTERFACE_VERSION } from '../interface-version.ts'
import {
  cut, languageView, list, modelView, presentLanguage, presentModel, presentPage, presentTranslation, translationView,
} from '../codecs/presenters.ts'
import { languagesQuery, modelsQuery, pageOf, translationsQuery } from '../codecs/request-codecs.ts'
import { publicRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
export interface ReferenceCalls {
  readonly catalogue: Catalogue
}

const fits = (wanted: string | null, value: string): boolean => wanted === null || wanted === value

const listLanguages = publicRoute(
  {
    operationId: 'listLanguages',
    summary: 'List the languages, with a model those that it hears',
    method: 'GET',
    path: '/languages',
    query: languagesQuery,
    response: { codec: list(languageView) },
    refusals: ['ModelNotFound'],
  },
  async ({ query }, { catalogue }: ReferenceCalls) => {
    const heard = query.model === null ? null : catalogue.models().find(({ name }) => name === query.model)?.languages
    if (heard === undefined) return E.left({ _tag: 'ModelNotFound' } as const)
    const matching = catalogue.languages().filter(({ name, iso }) =>
      fits(query.name, name) && fits(query.iso_639_1, iso) && (heard === null || heard.includes(iso)))
    const page = pageOf(query)
    return E.right(presentPage(cut(matching, page), page, presentLanguage))
  },
)

const listModels = publicRoute(
  {
    operationId: 'listModels',
    summary: 'List the transcription models',
    method: 'GET',
    path: '/models',
    query: modelsQuery,
    response: { codec: list(modelView) },
    refusals: [],
  },
  async ({ query }, { catalogue }: ReferenceCalls) => {
    const page = pageOf(query)
    return E.right(presentPage(cut(catalogue.models().filter(({ name }) => fits(query.name, name)), page), page, presentModel))
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
    const matching = catalogue.translations().filter(({ from, to }) => fits(query.lang_from, from) && fits(query.lang_to, to))
    const page = pageOf(query)
    return E.right(presentPage(cut(matching, page), page, (pair) => presentTranslation(pair, catalogue)))
  },
)

const version = publicRoute(
  {
    operationId: 'getVersion',
    summary: 'Version of the interface',
    method: 'GET',
    path: '/version',
    response: { codec: t.strict({ version: t.string }, 'Version') },
    refusals: [],
  },
  async () => E.right({ version: INTERFACE_VERSION }),
)

export const referenceRoutes: ReadonlyArray<Route<ReferenceCalls>> = [listLanguages, listModels, listTranslations, version]
