import type { FindOptions } from 'mongodb'
import type { Filter, PageRequest, Scalar } from '../../application/ports/documents.ts'
import { requireCount } from '../require-count.ts'
import { pathOf } from './collections.ts'

const isList = (wanted: Scalar | ReadonlyArray<Scalar>): wanted is ReadonlyArray<Scalar> => Array.isArray(wanted)

/**
 * A removed document has no body, hence no member to sort by. Demanding that member rules it out within the index; a
 * condition on `body`, which no index holds, would have the server read every document that a page passes over.
 */
const conditionOf = (filter: Filter, by: string): Readonly<Record<string, unknown>> => {
  const wants = ([member, wanted]: readonly [string, Scalar | ReadonlyArray<Scalar>]) =>
    [pathOf(member), isList(wanted) ? { $in: wanted } : { $eq: wanted }] as const
  const conditions: Readonly<Record<string, object>> = Object.fromEntries(Object.entries(filter).map(wants))
  return { ...conditions, [pathOf(by)]: { ...conditions[pathOf(by)], $ne: null } }
}

/** Ties of the sort go by id, in the same direction, so that pages never overlap and the index serves both. */
const orderOf = ({ by, direction }: PageRequest['sort']): Record<string, 1 | -1> => {
  const order = direction === 'ascending' ? 1 : -1
  return { [pathOf(by)]: order, _id: order }
}

interface PageQuery {
  readonly filter: object
  readonly options: FindOptions
}

/** What a page asks of its collection; to the server a `limit` of 0 is none. Throws a TypeError on what is no request. */
export const pageQuery = ({ filter, sort, skip, limit }: PageRequest): PageQuery => ({
  filter: conditionOf(filter, sort.by),
  options: {
    projection: { body: 1 },
    sort: orderOf(sort),
    skip: requireCount('skip', skip),
    limit: requireCount('limit', limit),
  },
})
