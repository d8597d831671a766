import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { RescanModels } from '../../../../application/catalogue/commands/rescan-models.ts'
import type {
  SwitchLanguage, SwitchModel, SwitchTranslation,
} from '../../../../application/catalogue/commands/switch-reference.ts'
import type { Catalogue } from '../../../../application/ports/catalogue.ts'
import {
  languageView, modelView, presentLanguage, presentModel, presentTranslation, single, translationView,
} from '../../codecs/presenters.ts'
import { pathId, switchBody } from '../../codecs/request-codecs.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute } from '../../route.ts'
import type { Route } from '../../route.ts'

/** What these routes call. */
export interface AdminCatalogueCalls {
  readonly catalogue: Catalogue
  readonly switchModel: SwitchModel
  readonly rescanModels: RescanModels
  readonly switchLanguage: SwitchLanguage
  readonly switchTranslation: SwitchTranslation
}

const switchModel = privateRoute(
  'admin',
  {
    operationId: 'switchModel',
    summary: 'Take a model away from new live sessions, or give it back',
    method: 'PUT',
    path: '/admin/models/:id',
    params: pathId,
    body: { kind: 'json', codec: switchBody },
    response: { codec: single(modelView) },
    refusals: ['ModelNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const model = await calls.switchModel(caller, params.id, body.is_active)()
    return E.isLeft(model) ? model : E.right({ data: presentModel(model.right) })
  },
)

const rescanModels = privateRoute(
  'admin',
  {
    operationId: 'rescanModels',
    summary: 'Look again which models are installed',
    method: 'POST',
    path: '/admin/rescan',
    response: { codec: t.strict({ data: t.readonlyArray(modelView) }, 'InstalledModels') },
    refusals: UNAVAILABLE,
  },
  async (_input, calls: AdminCatalogueCalls) => {
    const models = await calls.rescanModels()()
    return E.isLeft(models) ? models : E.right({ data: models.right.map(presentModel) })
  },
)

const switchLanguage = privateRoute(
  'admin',
  {
    operationId: 'switchLanguage',
    summary: 'Take a language away from new live sessions, or give it back',
    method: 'PUT',
    path: '/admin/languages/:id',
    params: pathId,
    body: { kind: 'json', codec: switchBody },
    response: { codec: single(languageView) },
    refusals: ['LanguageNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const language = await calls.switchLanguage(caller, params.id, body.is_active)()
    return E.isLeft(language) ? language : E.right({ data: presentLanguage(language.right) })
  },
)

const switchTranslation = privateRoute(
  'admin',
  {
    operationId: 'switchTranslation',
    summary: 'Take a translation pair away from new live sessions, or give it back',
    method: 'PUT',
    path: '/admin/translations/:id',
    params: pathId,
    body: { kind: 'json', codec: switchBody },
    response: { codec: single(translationView) },
    refusals: ['PairNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: AdminCatalogueCalls) => {
    const pair = await calls.switchTranslation(caller, params.id, body.is_active)()
    return E.isLeft(pair) ? pair : E.right({ data: presentTranslation(pair.right, calls.catalogue) })
  },
)

export const adminCatalogueRoutes: ReadonlyArray<Route<AdminCatalogueCalls>> = [
  switchModel, rescanModels, switchLanguage, switchTranslation,
]
