import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { OUTRANKED } from '../../../application/ports/documents.ts'
import type {
  Checkpoint,
  Document,
  Documents,
  DocumentsUnavailable,
  Filter,
  PageRequest,
  Scalar,
  ScannedDocument,
  PublishedProgress,
} from '../../../application/ports/documents.ts'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import { requireCount } from '../../stores/require-count.ts'
import { isSqliteError, openForReading } from '../database.ts'
import { memberOf, tableOf } from './documents-schema.ts'
import type { DocumentsAnswer, DocumentsJob } from './documents-worker.ts'
import { openWriter } from '../writer.ts'

const MAX_STATEMENTS = 100

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
const branchesOf = (filter: Filter): ReadonlyArray<Filter> => {
  const branches = Object.entries(filter).reduce<ReadonlyArray<Filter>>(
    (filters, [member, wanted]) => {
      const values = isList(wanted) ? [...new Map(wanted.map((value) => [toSql(value), value])).values()] : [wanted]
      return filters.flatMap((branch) => values.map((value) => ({ ...branch, [member]: value })))
    },
    [{}],
  )
  return branches.length > MAX_BRANCHES ? [filter] : branches
}

/**
 * Builds the query of a page. Equal values are ordered by id in the same direction, so pages never overlap. Each branch
 * is a query of its own, and SQLite merges the sorted rows from the index. A single query with IN would read all rows
 * that do not match, or sort all rows that match.
 */
const pageQuery = (
  collection: string,
  branches: ReadonlyArray<Filter>,
  { by, direction }: PageRequest['sort'],
): Condition => {
  const order = direction === 'ascending' ? 'ASC' : 'DESC'
  const selects = branches.map((filter): Condition => {
    const conditions = Object.entries(filter).map(([member, wanted]) => conditionOf(member, wanted))
    const where = ['body IS NOT NULL', ...conditions.map(({ sql }) => sql)].join(' AND ')
    return {
      sql: `SELECT body, ${memberOf(by)} AS sorted, id AS tie FROM ${tableOf(collection)} WHERE ${where}`,
      values: conditions.flatMap(({ values }) => values),
    }
  })
  return {
    sql: `${selects.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY sorted ${order}, tie ${order} LIMIT ? OFFSET ?`,
    values: selects.flatMap(({ values }) => values),
  }
}

/** Caches prepared statements by their text and drops the oldest first. */
const statementCache = (database: DatabaseSync): ((sql: string) => StatementSync) => {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    const [oldest] = statements.keys()
    if (statements.size > MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest)
    return statement
  }
}

const unavailable = (reason: string): DocumentsUnavailable => ({ _tag: 'DocumentsUnavailable', reason })

interface ScannedRow {
  readonly id: string
  readonly position: Position
  readonly body: string
}

/** Null: the body is not a JSON object, so the row is damaged. */
const documentIn = (body: string): Document | null => {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : null
  } catch {
    return null
  }
}

/** Parses the document only on access, because most readers compare texts. */
const scannedOf = ({ id, position, body }: ScannedRow): ScannedDocument => ({
  id,
  position,
  text: body,
  get document() {
    return documentIn(body)
  },
})

interface CheckpointRow {
  readonly position: Position
  readonly last?: string | null
  readonly told?: string | null
}

const checkpointOf = (row: CheckpointRow | undefined): Checkpoint => ({
  position: row?.position ?? BEGINNING,
  last: row?.last ? (JSON.parse(row.last) as Checkpoint['last']) : null,
})

const reading =
  <A>(read: () => A) =>
  async (): Promise<E.Either<DocumentsUnavailable, A>> => {
    try {
      return E.right(read())
    } catch (error) {
      if (isSqliteError(error)) return E.left(unavailable(error.message))
      throw error
    }
  }

type DocumentsReader = Pick<Documents, 'checkpoint' | 'publishedProgress' | 'get' | 'find' | 'page' | 'scan' | 'close'>

/** Opens the embedded read models for reading, also next to the process that writes them. */
export const openSqliteDocumentsReader = ({ file }: { readonly file: string }): DocumentsReader => {
  const database = openForReading(file)
  const prepare = statementCache(database)
  const parse = (row: { readonly body: string }): Document => JSON.parse(row.body) as Document
  /** Uses `*`, because a file of an earlier version lacks some columns and naming a missing column is an error. */
  const checkpointRow = (projection: string): CheckpointRow | undefined =>
    prepare('SELECT * FROM checkpoints WHERE projection = ?').get(projection) as unknown as CheckpointRow | undefined
  return {
    checkpoint: ({ projection }) => reading(() => checkpointOf(checkpointRow(projection))),
    publishedProgress: (models) =>
      reading(() =>
        models.map(({ projection }) =>
          JSON.parse(checkpointRow(projection)?.told ?? 'null') as PublishedProgress | null)),
    get: (collection, id) =>
      reading(() => {
        const row = prepare(`SELECT body FROM ${tableOf(collection)} WHERE id = ? AND body IS NOT NULL`).get(id)
        return row === undefined ? O.none : O.some(parse(row as { readonly body: string }))
      }),
    find: (collection, ids) =>
      reading(() => {
        const wanted = 'id IN (SELECT value FROM json_each(?)) AND body IS NOT NULL'
        const found = prepare(`SELECT id, body FROM ${tableOf(collection)} WHERE ${wanted}`).all(JSON.stringify(ids))
        const rows = found as unknown as ReadonlyArray<Pick<ScannedRow, 'id' | 'body'>>
        return new Map(rows.map((row) => [row.id, parse(row)]))
      }),
    page: (collection, { filter, sort, skip, limit }) =>
      reading(() => {
        const branches = branchesOf(filter)
        if (branches.length === 0) return []
        const { sql, values } = pageQuery(collection, branches, sort)
        const rows = prepare(sql).all(...values, requireCount('limit', limit), requireCount('skip', skip))
        return (rows as unknown as ReadonlyArray<{ readonly body: string }>).map(parse)
      }),
    scan: (collection, after, limit) => async () => {
      // SQLite is synchronous, so reading page after page would starve the sockets without this pause.
      await setImmediate()
      return await reading(() => {
        const where = `WHERE ${after === null ? '' : 'id > ? AND'} body IS NOT NULL`
        const select = prepare(`SELECT id, position, body FROM ${tableOf(collection)} ${where} ORDER BY id LIMIT ?`)
        const rows = select.all(...(after === null ? [] : [after]), requireCount('limit', limit))
        return (rows as unknown as ReadonlyArray<ScannedRow>).map(scannedOf)
      })()
    },
    close: async () => {
      if (database.isOpen) database.close()
    },
  }
}

/** Opens the embedded read models: one SQLite file. A worker thread writes it, the calling thread reads it. */
export const openSqliteDocuments = async ({ file }: { readonly file: string }): Promise<Documents> => {
  const worker = new URL('./documents-worker.ts', import.meta.url)
  const writer = await openWriter<DocumentsJob, DocumentsAnswer>(worker, { file })
  const reader = openSqliteDocumentsReader({ file })
  const submit = async (job: DocumentsJob): Promise<E.Either<DocumentsUnavailable, void>> => {
    const answer = await writer.submit(job)
    if (E.isLeft(answer)) return E.left(unavailable(answer.left))
    return answer.right ? E.right(undefined) : E.left(OUTRANKED)
  }
  return {
    ...reader,
    // The answer is the place of each collection. It is the name, because only this process can replace a collection.
    ensure: (collections) => async () =>
      E.map(() => collections.map(({ name }) => name))(await submit({ kind: 'ensure', collections })),
    commit: ({ projection }, changes, { position, last }, token = 0) => () => {
      const encoded = changes.map((change) => ({
        collection: change.collection,
        id: change.id,
        position: change.position,
        body: change.kind === 'put' ? JSON.stringify(change.document) : null,
      }))
      const lastEvent = last && JSON.stringify(last)
      return submit({ kind: 'commit', projection, changes: encoded, position, last: lastEvent, token })
    },
    publishProgress: (updates) => () => submit({ kind: 'publish', updates }),
    discard: (target) => () => submit({ kind: 'discard', target }),
    promote: (from, to) => () => submit({ kind: 'promote', from, to }),
    close: async () => {
      // The connection that is closed last merges the write-ahead file. Only the writer can merge it, so it is last.
      await reader.close()
      await writer.close()
    },
  }
}
