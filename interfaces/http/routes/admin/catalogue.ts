import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { RemoveModel, RemoveTranslation } from '../../../../application/catalogue/commands/remove-model.ts'
import type { RescanModels } from '../../../../application/catalogue/commands/rescan-models.ts'
import type {
  SwitchLanguage, SwitchModel, SwitchTranslation,
} from '../../../../application/catalogue/commands/switch-reference.ts'
import type { DetailedCatalogue } from '../../../../application/catalogue/queries/list-installed-models.ts'
import type { Catalogue } from '../../../../application/ports/catalogue.ts'
import {
  adminModelView, adminTranslationView, presentAdminModel, presentAdminTranslation,
} from '../../codecs/admin-model-codecs.ts'
import {
  languageView, list, messageView, modelView, presentLanguage, presentModel, presentPage, presentTranslation, single,
  sliceOf, translationView,
} from '../../codecs/presenters.ts'
import { activationBody, pageOf, pageQuery, pathId } from '../../codecs/request-codecs.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute, type Route } from '../../route.ts'

export interface AdminCatalogueCalls {
  readonly catalogue: Catalogue
  readonly detailedCatalogue: DetailedCatalogue
  readonly removeModel: RemoveModel
  readonly removeTranslation: RemoveTranslation
  readonly switchModel: SwitchModel
  readonly rescanModels: RescanModels
  readonly switchLanguage: SwitchLanguage
  readonly switchTranslation: SwitchTranslation
}

const switchModel = privateRoute(
  'admin',
  {
    operationId: 'switchModel',
    summary: 'Switch a model off or on for new sessions',
    method: 'PUT',
    path: '/admin/models/:id',
    params: pathId,
    body: { kind: 'json', codec: activationBody },
    response: { codec: single(modelView) },
    refusals: ['ModelNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const model = await calls.switchModel(caller, params.id, body.is_active)
    return E.isLeft(model) ? model : E.right({ data: presentModel(model.right) })
  },
)

const rescanModels = privateRoute(
  'admin',
  {
    operationId: 'rescanModels',
    summary: 'Scan the models folder again, and list the installed models',
    method: 'POST',
    path: '/admin/rescan',
    response: { codec: t.strict({ data: t.readonlyArray(modelView) }, 'InstalledModels') },
    refusals: ['ModelsElsewhere', ...UNAVAILABLE],
  },
  async (_input, calls: AdminCatalogueCalls) => {
    const models = await calls.rescanModels()
    return E.isLeft(models) ? models : E.right({ data: models.right.map(presentModel) })
  },
)

const switchLanguage = privateRoute(
  'admin',
  {
    operationId: 'switchLanguage',
    summary: 'Switch a language off or on for new sessions',
    method: 'PUT',
    path: '/admin/languages/:id',
    params: pathId,
    body: { kind: 'json', codec: activationBody },
    response: { codec: single(languageView) },
    refusals: ['LanguageNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const language = await calls.switchLanguage(caller, params.id, body.is_active)
    return E.isLeft(language) ? language : E.right({ data: presentLanguage(language.right) })
  },
)

const switchTranslation = privateRoute(
  'admin',
  {
    operationId: 'switchTranslation',
    summary: 'Switch a translation pair off or on for new sessions',
    method: 'PUT',
    path: '/admin/translations/:id',
    params: pathId,
    body: { kind: 'json', codec: activationBody },
    response: { codec: single(translationView) },
    refusals: ['PairNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const pair = await calls.switchTranslation(caller, params.id, body.is_active)
    return E.isLeft(pair) ? pair : E.right({ data: presentTranslation(pair.right, calls.catalogue) })
  },
)

const listAdminModels = privateRoute(
  'admin',
  {
    operationId: 'listAdminModels',
    summary: 'List the transcription models with details of their installation',
    method: 'GET',
    path: '/admin/models',
    query: pageQuery,
    response: { codec: list(adminModelView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, { detailedCatalogue }: AdminCatalogueCalls) => {
    const page = pageOf(query)
    return E.right(await presentPage(sliceOf(detailedCatalogue.models(), page), page, presentAdminModel))
  },
)

const listAdminTranslations = privateRoute(
  'admin',
  {
    operationId: 'listAdminTranslations',
    summary: 'List the translation pairs with details of their installed translators',
    method: 'GET',
    path: '/admin/translations',
    query: pageQuery,
    response: { codec: list(adminTranslationView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, { detailedCatalogue, catalogue }: AdminCatalogueCalls) => {
    const page = pageOf(query)
    const pairs = sliceOf(detailedCatalogue.translations(), page)
    return E.right(await presentPage(pairs, page, presentAdminTranslation(catalogue)))
  },
)

const removeModel = privateRoute(
  'admin',
  {
    operationId: 'removeModel',
    summary: 'Remove an installed model, if no open session uses it',
    method: 'DELETE',
    path: '/admin/models/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['ModelNotFound', 'ModelInUse', 'ModelIsBundled', 'ModelsElsewhere', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: AdminCatalogueCalls) => {
    const removed = await calls.removeModel(caller, params.id)
    return E.isLeft(removed) ? removed : E.right({ message: 'Model removed' })
  },
)

const removeTranslation = privateRoute(
  'admin',
  {
    operationId: 'removeTranslation',
    summary: 'Remove a translator with all its pairs, if no open session uses the translator',
    method: 'DELETE',
    path: '/admin/translations/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['PairNotFound', 'ModelInUse', 'ModelIsBundled', 'ModelsElsewhere', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: AdminCatalogueCalls) => {
    const removed = await calls.removeTranslation(caller, params.id)
    return E.isLeft(removed) ? removed : E.right({ message: 'Model removed' })
  },
)

export const adminCatalogueRoutes: ReadonlyArray<Route<AdminCatalogueCalls>> = [
  switchModel, rescanModels, switchLanguage, switchTranslation, listAdminModels, listAdminTranslations, removeModel,
  removeTranslation,
]
