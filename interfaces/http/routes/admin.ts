import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { AdminLive } from '../../../application/lives/admin-live.ts'
import type { FinishAnyLive } from '../../../application/lives/commands/finish-any-live.ts'
import type { ListAllLives } from '../../../application/lives/queries/list-all-lives.ts'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import type { RescanModels } from '../../../application/catalogue/commands/rescan-models.ts'
import type {
  SwitchLanguage, SwitchModel, SwitchTranslation,
} from '../../../application/catalogue/commands/switch-reference.ts'
import { UNAVAILABLE } from '../errors.ts'
import {
  adminLiveView, languageView, list, modelView, presentAdminLive, presentLanguage, presentModel, presentPage, presentTranslation, single,
  translationView,
} from '../codecs/presenters.ts'
import { allLivesQuery, pageOf, pathId, switchBody } from '../codecs/request-codecs.ts'
import { privateRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
export interface AdminCalls {
  readonly switchModel: SwitchModel
  readonly rescanModels: RescanModels
  readonly switchLanguage: SwitchLanguage
  readonly switchTranslation: SwitchTranslation
  readonly catalogue: Catalogue
  readonly listAllLives: ListAllLives
  readonly finishAnyLive: FinishAnyLive
}

const listAllLives = privateRoute(
  'admin',
  {
    operationId: 'listAllLives',
    summary: 'List the live sessions of all users, without what opens them',
    method: 'GET',
    path: '/admin/lives',
    query: allLivesQuery,
    response: { codec: list(adminLiveView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, caller, origin }, calls: AdminCalls) => {
    const page = pageOf(query)
    const wanted = { userId: query.user_id, statuses: Array.from(new Set(query.status)) }
    const lives = await calls.listAllLives(caller, wanted, page)()
    if (E.isLeft(lives)) return lives
    return E.right(presentPage(lives.right, page, (live) => presentAdminLive(live, calls.catalogue, origin)))
  },
)

const finishAnyLive = privateRoute(
  'admin',
  {
    operationId: 'finishAnyLive',
    summary: 'Finish the live session of any user',
    method: 'PUT',
    path: '/admin/lives/:id/finish',
    params: pathId,
    response: { codec: single(adminLiveView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, origin }, calls: AdminCalls) => {
    if (!Number.isSafeInteger(params.id) || params.id < 1) return E.left({ _tag: 'LiveNotFound' } as const)
    const live = await calls.finishAnyLive(caller, params.id)()
    return E.map((one: AdminLive) => ({ data: presentAdminLive(one, calls.catalogue, origin) }))(live)
  },
)

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
  async ({ params, body, caller }, calls: AdminCalls) => {
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
  async (_input, calls: AdminCalls) => {
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
  async ({ params, body, caller }, calls: AdminCalls) => {
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
  async ({ params, body, caller }, calls: AdminCalls) => {
    const pair = await calls.switchTranslation(caller, params.id, body.is_active)()
    return E.isLeft(pair) ? pair : E.right({ data: presentTranslation(pair.right, calls.catalogue) })
  },
)

export const adminRoutes: ReadonlyArray<Route<AdminCalls>> = [listAllLives, finishAnyLive, switchModel, rescanModels, switchLanguage, switchTranslation]
