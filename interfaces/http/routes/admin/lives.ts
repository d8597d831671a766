import * as E from 'fp-ts/lib/Either.js'
import type { AdminLive } from '../../../../application/lives/admin-live.ts'
import type { FinishAnyLive } from '../../../../application/lives/commands/finish-live.ts'
import type { ListAllLives } from '../../../../application/lives/queries/list-all-lives.ts'
import type { InspectLive } from '../../../../application/lives/queries/inspect-live.ts'
import type { Catalogue } from '../../../../application/ports/catalogue.ts'
import { entryView, integrityView, pastView, presentEntry, presentIntegrity } from '../../codecs/history-codecs.ts'
import { adminLiveView, list, presentAdminLive, presentPage, single } from '../../codecs/presenters.ts'
import { allLivesQuery, pageOf, pageQuery, pathEntry, pathId } from '../../codecs/request-codecs.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute, type Route } from '../../route.ts'

export interface AdminLiveCalls extends InspectLive {
  readonly catalogue: Catalogue
  readonly listAllLives: ListAllLives
  readonly finishAnyLive: FinishAnyLive
}

const NOT_FOUND = E.left({ _tag: 'LiveNotFound' } as const)

/** True for an id that a session can have. Requests with other ids are refused before an access is recorded. */
const isPossible = (id: number): boolean => Number.isSafeInteger(id) && id > 0

const listAllLives = privateRoute(
  'admin',
  {
    operationId: 'listAllLives',
    summary: 'List the sessions of all users, without tokens and audio URLs',
    method: 'GET',
    path: '/admin/lives',
    query: allLivesQuery,
    response: { codec: list(adminLiveView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, caller, facts }, calls: AdminLiveCalls) => {
    const page = pageOf(query)
    const wanted = { userId: query.user_id, statuses: Array.from(new Set(query.status)) }
    const lives = await calls.listAllLives(caller, wanted, page)
    if (E.isLeft(lives)) return lives
    return E.right(await presentPage(lives.right, page, (live) => presentAdminLive(live, calls.catalogue, facts)))
  },
)

const finishAnyLive = privateRoute(
  'admin',
  {
    operationId: 'finishAnyLive',
    summary: 'Finish a session of any user',
    method: 'PUT',
    path: '/admin/lives/:id/finish',
    isBudgeted: false,
    params: pathId,
    response: { codec: single(adminLiveView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: AdminLiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const live = await calls.finishAnyLive(caller, params.id)
    return E.map((view: AdminLive) => ({ data: presentAdminLive(view, calls.catalogue, facts) }))(live)
  },
)

const getAnyLive = privateRoute(
  'admin',
  {
    operationId: 'getAnyLive',
    summary: 'Get a session of any user, without tokens and audio URL',
    method: 'GET',
    path: '/admin/lives/:id',
    params: pathId,
    response: { codec: single(adminLiveView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: AdminLiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const live = await calls.getAnyLive(caller, params.id)
    return E.map((view: AdminLive) => ({ data: presentAdminLive(view, calls.catalogue, facts) }))(live)
  },
)

const getAnyHistory = privateRoute(
  'admin',
  {
    operationId: 'getAnyHistory',
    summary: 'List the events of a session of any user, oldest first',
    method: 'GET',
    path: '/admin/lives/:id/history',
    params: pathId,
    query: pageQuery,
    response: { codec: list(entryView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, query, caller }, calls: AdminLiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const page = pageOf(query)
    const history = await calls.getAnyHistory(caller, params.id, page)
    return E.isLeft(history) ? history : E.right(await presentPage(history.right, page, presentEntry))
  },
)

const getAnyHistoryEntry = privateRoute(
  'admin',
  {
    operationId: 'getAnyHistoryEntry',
    summary: 'Get one event of a session of any user and the state after that event',
    method: 'GET',
    path: '/admin/lives/:id/history/:entry',
    params: pathEntry,
    response: { codec: single(pastView(adminLiveView)) },
    refusals: ['LiveNotFound', 'EntryNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: AdminLiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const past = await calls.getAnyHistoryEntry(caller, params.id, params.entry)
    if (E.isLeft(past)) return past
    const { entry, state } = past.right
    return E.right({ data: { entry: presentEntry(entry), state: presentAdminLive(state, calls.catalogue, facts) } })
  },
)

const getAnyIntegrity = privateRoute(
  'admin',
  {
    operationId: 'getAnyIntegrity',
    summary: 'Check the stored history of a session of any user for accidental damage',
    method: 'GET',
    path: '/admin/lives/:id/integrity',
    params: pathId,
    response: { codec: single(integrityView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: AdminLiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const integrity = await calls.getAnyIntegrity(caller, params.id)
    return E.isLeft(integrity) ? integrity : E.right({ data: presentIntegrity(integrity.right) })
  },
)

export const adminLiveRoutes: ReadonlyArray<Route<AdminLiveCalls>> = [
  listAllLives, finishAnyLive, getAnyLive, getAnyHistory, getAnyHistoryEntry, getAnyIntegrity,
]
