import type { FindOptions } from 'mongodb'
import type { Filter, PageRequest, Scalar } from '../../application/ports/documents.ts'
import { requireCount } from '../store-rules/require-count.ts'
import { pathOf } from './collections.ts'

const isList = (wanted: Scalar | ReadonlyArray<Scalar>): wanted is ReadonlyArray<Scalar> => Array.isArray(wanted)

/**
 * Excludes removed documents, which have no body. The condition is that the member that orders the page exists, because
 * this member is indexed. A condition on `body`, which has no index, would make the server read every skipped document.
 */
const conditionOf = (filter: Filter, by: string): Readonly<Record<string, unknown>> => {
  const toCondition = ([member, wanted]: readonly [string, Scalar | ReadonlyArray<Scalar>]) =>
    [pathOf(member), isList(wanted) ? { $in: wanted } : { $eq: wanted }] as const
  const conditions: Readonly<Record<string, object>> = Object.fromEntries(Object.entries(filter).map(toCondition))
  return { ...conditions, [pathOf(by)]: { ...conditions[pathOf(by)], $ne: null } }
}

/** Orders equal values by id in the same direction, so pages never overlap and one index serves both directions. */
const orderOf = ({ by, direction }: PageRequest['sort']): Record<string, 1 | -1> => {
  const order = direction === 'ascending' ? 1 : -1
  return { [pathOf(by)]: order, _id: order }
}

interface PageQuery {
  readonly filter: object
  readonly options: FindOptions
}

/**
 * Converts a request of a page into a query. The caller must handle `limit` 0, which the server reads as no limit.
 * Throws a TypeError on an invalid request.
 */
export const pageQuery = ({ filter, sort, skip, limit, without = [] }: PageRequest): PageQuery => ({
  filter: conditionOf(filter, sort.by),
  options: {
    projection: without.length === 0 ? { body: 1 } : Object.fromEntries(without.map((member) => [pathOf(member), 0])),
    sort: orderOf(sort),
    skip: requireCount('skip', skip),
    limit: requireCount('limit', limit),
  },
})
