import * as E from 'fp-ts/lib/Either.js'
import type { GetHistory, GetHistoryEntry } from '../../../application/lives/queries/get-history.ts'
import type { GetIntegrity } from '../../../application/lives/queries/get-integrity.ts'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import { entryView, integrityView, pastView, presentEntry, presentIntegrity } from '../codecs/history-codecs.ts'
import { UNAVAILABLE } from '../errors.ts'
import { list, liveView, presentLive, presentPage, single } from '../codecs/presenters.ts'
import { pageOf, pageQuery, pathEntry, pathId } from '../codecs/request-codecs.ts'
import { privateRoute, type Route } from '../route.ts'

export interface HistoryCalls {
  readonly catalogue: Catalogue
  readonly getHistory: GetHistory
  readonly getHistoryEntry: GetHistoryEntry
  readonly getIntegrity: GetIntegrity
}

const getHistory = privateRoute(
  'private',
  {
    operationId: 'getHistory',
    summary: 'List the events of a session, oldest first',
    method: 'GET',
    path: '/lives/:id/history',
    params: pathId,
    query: pageQuery,
    response: { codec: list(entryView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, query, caller }, calls: HistoryCalls) => {
    const page = pageOf(query)
    const history = await calls.getHistory(caller, params.id, page)
    return E.isLeft(history) ? history : E.right(await presentPage(history.right, page, presentEntry))
  },
)

const getHistoryEntry = privateRoute(
  'private',
  {
    operationId: 'getHistoryEntry',
    summary: 'Get one event of a session and the state after that event, with masked tokens',
    method: 'GET',
    path: '/lives/:id/history/:entry',
    params: pathEntry,
    response: { codec: single(pastView(liveView)) },
    refusals: ['LiveNotFound', 'EntryNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: HistoryCalls) => {
    const past = await calls.getHistoryEntry(caller, params.id, params.entry)
    if (E.isLeft(past)) return past
    const { entry, state } = past.right
    return E.right({ data: { entry: presentEntry(entry), state: presentLive(state, calls.catalogue, facts) } })
  },
)

const getIntegrity = privateRoute(
  'private',
  {
    operationId: 'getIntegrity',
    summary: 'Check the stored history of a session for accidental damage',
    method: 'GET',
    path: '/lives/:id/integrity',
    params: pathId,
    response: { codec: single(integrityView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: HistoryCalls) => {
    const integrity = await calls.getIntegrity(caller, params.id)
    return E.isLeft(integrity) ? integrity : E.right({ data: presentIntegrity(integrity.right) })
  },
)

export const historyRoutes: ReadonlyArray<Route<HistoryCalls>> = [getHistory, getHistoryEntry, getIntegrity]
