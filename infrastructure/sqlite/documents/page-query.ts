import type { SQLInputValue } from 'node:sqlite'
import type { Filter, PageRequest, Scalar } from '../../../application/ports/documents.ts'
import { memberOf, pathOf, tableOf } from './documents-schema.ts'

interface Condition {
  readonly sql: string
  readonly values: ReadonlyArray<SQLInputValue>
}

/** SQLite represents JSON's true and false as 1 and 0. */
const toSql = (value: Scalar): SQLInputValue => (typeof value === 'boolean' ? Number(value) : value)

const isList = (wanted: Scalar | ReadonlyArray<Scalar>): wanted is ReadonlyArray<Scalar> => Array.isArray(wanted)

/** A filter with more combinations of values uses IN, which is slower. */
const MAX_BRANCHES = 16

const conditionOf = (member: string, wanted: Scalar | ReadonlyArray<Scalar>): Condition => {
  const column = memberOf(member)
  if (!isList(wanted)) return { sql: `${column} IS ?`, values: [toSql(wanted)] }
  const anyOf = `${column} IN (SELECT value FROM json_each(?))`
  const sql = wanted.includes(null) ? `(${anyOf} OR ${column} IS NULL)` : anyOf
  return { sql, values: [JSON.stringify(wanted.map(toSql))] }
}

/** Splits a filter into filters with one value for each member. A document matches at most one of them. */
export const branchesOf = (filter: Filter): ReadonlyArray<Filter> => {
  const branches = Object.entries(filter).reduce<ReadonlyArray<Filter>>(
    (filters, [member, wanted]) => {
      const values = isList(wanted) ? [...new Map(wanted.map((value) => [toSql(value), value])).values()] : [wanted]
      return filters.flatMap((branch) => values.map((value) => ({ ...branch, [member]: value })))
    },
    [{}],
  )
  return branches.length > MAX_BRANCHES ? [filter] : branches
}

/** A row of a page with the values that order it. */
export interface SortedRow {
  readonly body: string
  readonly sorted: SQLInputValue
  readonly tie: string
}

/** Continues after a row. The first condition is redundant, but lets SQLite find the place in the index. */
const beyond = (column: string, direction: PageRequest['sort']['direction'], { sorted, tie }: SortedRow): Condition => {
  const sign = direction === 'ascending' ? '>' : '<'
  return { sql: `${column} ${sign}= ? AND (${column} ${sign} ? OR id ${sign} ?)`, values: [sorted, sorted, tie] }
}

/**
 * Builds the query of a page, or of the rest of a page after a row. Equal values are ordered by id in the same
 * direction, so pages never overlap. Each branch is a query of its own, and SQLite merges the sorted rows from the
 * index. A single query with IN would read all rows that do not match, or sort all rows that match.
 */
export const pageQuery = (
  collection: string,
  branches: ReadonlyArray<Filter>,
  { sort: { by, direction }, without = [] }: Pick<PageRequest, 'sort' | 'without'>,
  after: SortedRow | null,
): Condition => {
  const order = direction === 'ascending' ? 'ASC' : 'DESC'
  const body = without.length === 0 ? 'body' : `json_remove(body, ${without.map(pathOf).join(', ')})`
  const selects = branches.map((filter): Condition => {
    const conditions = Object.entries(filter).map(([member, wanted]) => conditionOf(member, wanted))
    if (after !== null) conditions.push(beyond(memberOf(by), direction, after))
    const where = ['body IS NOT NULL', ...conditions.map(({ sql }) => sql)].join(' AND ')
    return {
      sql: `SELECT ${body} AS body, ${memberOf(by)} AS sorted, id AS tie FROM ${tableOf(collection)} WHERE ${where}`,
      values: conditions.flatMap(({ values }) => values),
    }
  })
  return {
    sql: `${selects.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY sorted ${order}, tie ${order} LIMIT ? OFFSET ?`,
    values: selects.flatMap(({ values }) => values),
  }
}
