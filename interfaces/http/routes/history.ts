import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { GetHistory, HistoryEntry } from '../../../application/lives/queries/get-history.ts'
import { boundedInteger, instant } from '../../../domain/shared/codecs.ts'
import { UNAVAILABLE } from '../errors.ts'
import { list, presentPage } from '../codecs/presenters.ts'
import { pageOf, pageQuery, pathId } from '../codecs/request-codecs.ts'
import { privateRoute } from '../route.ts'
import type { Route } from '../route.ts'

/** What these routes call. */
export interface HistoryCalls {
  readonly getHistory: GetHistory
}

const entryView = t.strict(
  {
    /** Its place in the history, from 1. */
    id: boundedInteger(1, Number.MAX_SAFE_INTEGER),
    type: t.string,
    at: instant,
    /** Who did it: `user:7`, `service`, or the `instance:…` that ran the live. */
    actor: t.string,
    data: t.UnknownRecord,
  },
  'HistoryEntry',
)

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Members under the names that they would have in the rest of the interface. */
const presentValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(presentValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), presentValue(member)]))
}

const presentEntry = (entry: HistoryEntry): t.TypeOf<typeof entryView> => ({
  ...entry,
  data: presentValue(entry.data) as Readonly<Record<string, unknown>>,
})

const getHistory = privateRoute(
  'private',
  {
    operationId: 'getHistory',
    summary: 'What happened to a live session, event by event',
    method: 'GET',
    path: '/lives/:id/history',
    params: pathId,
    query: pageQuery,
    response: { codec: list(entryView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, query, caller }, calls: HistoryCalls) => {
    const page = pageOf(query)
    const history = await calls.getHistory(caller, params.id, page)()
    return E.isLeft(history) ? history : E.right(presentPage(history.right, page, presentEntry))
  },
)

export const historyRoutes: ReadonlyArray<Route<HistoryCalls>> = [getHistory]
