import type { BSON } from 'mongodb'
import { notImplemented } from './errors.ts'
import { isExpression, matches, sorted, valueAt } from './match.ts'
import type { Index } from './storage.ts'

/** MongoDB scans an index once for each listed value only up to this number of scans. */
const MAX_MERGED_SCANS = 200

/** The counts of a plan, and the documents that it finds. */
interface Execution {
  readonly stage: string
  readonly index: string | null
  /** Number of index keys that the plan reads. */
  readonly keys: number
  /** Number of documents that the plan reads. */
  readonly examined: number
  readonly found: ReadonlyArray<BSON.Document>
}

interface Query {
  readonly filter: BSON.Document
  readonly sort: BSON.Document
  /** Decides whether the index alone can answer. */
  readonly projection: BSON.Document
  readonly skip: number
  readonly limit: number
}

const conditionsOn = (filter: BSON.Document, path: string): BSON.Document | null => {
  const wanted: unknown = filter[path]
  if (wanted === undefined) return null
  return isExpression(wanted) ? wanted : { $eq: wanted }
}

/**
 * Returns whether the index alone can decide the conditions. An index stores a missing member as null, so a comparison
 * with null needs the document.
 */
const isDecidedByIndex = (conditions: BSON.Document): boolean =>
  !('$eq' in conditions && conditions['$eq'] === null) &&
  !(Array.isArray(conditions['$in']) && conditions['$in'].includes(null))

/** The number of single values that match the conditions; null: a range. */
const pointsOf = (conditions: BSON.Document | null): number | null => {
  if (conditions === null) return null
  if ('$eq' in conditions) return 1
  return Array.isArray(conditions['$in']) ? conditions['$in'].length : null
}

/**
 * Returns the direction in which a scan of the index has the order of the sort. `merge`: several scans, one for each
 * listed value, are merged. Null: no scan has this order.
 */
const orderBy = (index: Index, { filter, sort }: Query): 'forward' | 'backward' | 'merge' | null => {
  const paths = Object.keys(index.key)
  const points = paths.map((path) => pointsOf(conditionsOn(filter, path)))
  const wanted = Object.keys(sort)
  const start = paths.indexOf(wanted[0] ?? '')
  if (start < 0 || points.slice(0, start).includes(null)) return null
  if (wanted.some((path, n) => paths[start + n] !== path)) return null
  const directions = new Set(wanted.map((path) => Number(sort[path]) * Number(index.key[path])))
  if (directions.size !== 1) return null
  const scans = points.slice(0, start).reduce<number>((product, count) => product * (count ?? 1), 1)
  if (scans > MAX_MERGED_SCANS) return null
  if (scans > 1) return 'merge'
  return directions.has(1) ? 'forward' : 'backward'
}

const onePage = <A>(all: ReadonlyArray<A>, { skip, limit }: Query): ReadonlyArray<A> =>
  all.slice(skip, limit === 0 ? undefined : skip + limit)

/** The entries that a scan reads until the page is full of matches. */
const consumed = <A>(
  all: ReadonlyArray<A>,
  { skip, limit }: Query,
  isMatch: (entry: A) => boolean,
): ReadonlyArray<A> => {
  if (limit === 0) return all
  let matching = 0
  const end = all.findIndex((entry) => isMatch(entry) && ++matching === skip + limit)
  return end < 0 ? all : all.slice(0, end + 1)
}

const byCollection = (documents: ReadonlyArray<BSON.Document>, query: Query): Execution => {
  const isMatch = (document: BSON.Document): boolean => matches(document, query.filter)
  const found = onePage(sorted(documents.filter(isMatch), query.sort), query)
  return { stage: 'COLLSCAN', index: null, keys: 0, examined: documents.length, found }
}

/** Executes the query with the index; null when the index is of no use for the query. */
const byIndex = (documents: ReadonlyArray<BSON.Document>, index: Index, query: Query): Execution | null => {
  const paths = Object.keys(index.key)
  const order = orderBy(index, query)
  const isBounded = conditionsOn(query.filter, paths[0] ?? '') !== null
  if (!isBounded && order === null) return null
  const hasList = documents.some((document) => paths.some((path) => Array.isArray(valueAt(document, path))))
  if (hasList) throw notImplemented('indexes of lists')

  const bounds = Object.fromEntries(Object.entries(query.filter).filter(([path]) => paths.includes(path)))
  const isDecided = Object.keys(query.filter).every(
    (path) => path in bounds && isDecidedByIndex(conditionsOn(query.filter, path) ?? {}),
  )
  const entries = sorted(documents, index.key)
  const directed = order === 'backward' ? entries.toReversed() : entries
  const within = directed.filter((document) => matches(document, bounds))
  const isMatch = (document: BSON.Document): boolean => matches(document, query.filter)
  if (order === null) {
    const all = onePage(sorted(within.filter(isMatch), query.sort), query)
    return { stage: 'SORT', index: index.name, keys: within.length, examined: within.length, found: all }
  }
  const scanned = consumed(order === 'merge' ? sorted(within, query.sort) : within, query, isMatch)
  const found = onePage(scanned.filter(isMatch), query)
  // The server counts one more key for each gap in the scan and for each merged scan.
  const last = scanned.at(-1)
  const passed = last === undefined || order === 'merge' ? directed : directed.slice(0, directed.indexOf(last) + 1)
  const isIn = passed.map((document) => matches(document, bounds))
  const gaps = isIn.filter((is, n) => !is && isIn[n - 1] !== false).length
  const names = Object.keys(query.projection)
  const isCovered = isDecided && names.length > 0 && names.every((name) => paths.includes(name))
  const fetched = isDecided ? found.length : scanned.length
  const [stage, examined] = isCovered ? ['IXSCAN', 0] as const : ['FETCH', fetched] as const
  return { stage, index: index.name, keys: scanned.length + gaps, examined, found }
}

/**
 * Explains a `find` by the plan that examines the fewest documents. An index is usable if the filter bounds its first
 * member or if it has the order of the sort. Entries outside the bounds are skipped within the index. All other
 * conditions need the document.
 */
export const explained = (
  documents: ReadonlyArray<BSON.Document>, indexes: ReadonlyArray<Index>, command: BSON.Document,
) => {
  const { filter = {}, sort = {}, projection = {}, skip = 0, limit = 0 } = command
  if (Object.keys(sort).length === 0) throw notImplemented('explain without a sort')
  const query: Query = { filter, sort, projection, skip: Number(skip), limit: Number(limit) }
  const plans = [...indexes.flatMap((index) => byIndex(documents, index, query) ?? []), byCollection(documents, query)]
  const [best] = plans.toSorted((a, b) => a.examined - b.examined || a.keys - b.keys)
  if (best === undefined) throw new Error('no plan: the collection scan is missing')
  const { stage, index, keys: totalKeysExamined, examined: totalDocsExamined, found } = best
  const input = index === null ? {} : { inputStage: { stage: 'IXSCAN', indexName: index } }
  return {
    queryPlanner: { winningPlan: { stage, ...input } },
    executionStats: { executionSuccess: true, nReturned: found.length, totalKeysExamined, totalDocsExamined },
    found,
  }
}
