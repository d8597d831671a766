import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { ROWS_AT_ONCE } from '../../../application/concurrency.ts'
import { createLruCache } from '../../../application/lru-cache.ts'
import {
  type Checkpoint, type Commit, type Document, type Documents, type DocumentsUnavailable, OUTRANKED,
  type PublishedProgress, type ScannedDocument,
} from '../../../application/ports/documents.ts'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { requireCount } from '../../store-rules/require-count.ts'
import { isSqliteError, openForReading } from '../database.ts'
import { tableOf } from './documents-schema.ts'
import type { DocumentsAnswer, DocumentsJob } from './documents-worker.ts'
import { branchesOf, pageQuery, type SortedRow } from './page-query.ts'
import { openWriter } from '../writer.ts'

const MAX_STATEMENTS = 100

/** Caches prepared statements by their text. */
const statementCache = (database: DatabaseSync): ((sql: string) => StatementSync) => {
  const statements = createLruCache<string, StatementSync>(MAX_STATEMENTS)
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
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

/** Node throws the one, and SQLite the other, if it must sort or filter by a member of the document. */
const isMalformedJson = (error: unknown): boolean =>
  error instanceof SyntaxError || (error instanceof Error && error.message === 'malformed JSON')

const reading = async <A>(read: () => A): Promise<E.Either<DocumentsUnavailable, A>> => {
  try {
    return E.right(read())
  } catch (error) {
    if (isSqliteError(error)) return E.left(unavailable(error.message))
    // The message would contain a part of the document.
    if (isMalformedJson(error)) return E.left(unavailable('a stored document is not JSON'))
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
    page: async (collection, { filter, skip, limit, ...request }) => {
      const branches = branchesOf(filter)
      const documents: Array<Document> = []
      let [last, rest]: [SortedRow | null, number] = [null, branches.length === 0 ? 0 : requireCount('limit', limit)]
      while (rest > 0) {
        const count = Math.min(ROWS_AT_ONCE, rest)
        const { sql, values } = pageQuery(collection, branches, request, last)
        const read = (): ReadonlyArray<SortedRow> =>
          prepare(sql).all(...values, count, last === null ? requireCount('skip', skip) : 0) as unknown as SortedRow[]
        const found = await reading(() => {
          const rows = read()
          return { rows, parsed: rows.map(parse) }
        })
        if (E.isLeft(found)) return found
        const { rows, parsed } = found.right
        documents.push(...parsed)
        last = rows.at(-1) ?? null
        rest = rows.length < count ? 0 : rest - count
        // SQLite is synchronous, so a long page would starve the sockets without this pause.
        if (rest > 0) await setImmediate()
      }
      return E.right(documents)
    },
    scan: async (collection, after, limit) => {
      // SQLite is synchronous, so reading page after page would starve the sockets without this pause.
      await setImmediate()
      return await reading(() => {
        const where = `WHERE ${after === null ? '' : 'id > ? AND'} body IS NOT NULL`
        const select = prepare(`SELECT id, position, body FROM ${tableOf(collection)} ${where} ORDER BY id LIMIT ?`)
        const rows = select.all(...(after === null ? [] : [after]), requireCount('limit', limit))
        return (rows as unknown as ReadonlyArray<ScannedRow>).map(scannedOf)
      })
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
  const commit = async ({ whose: { projection }, changes, checkpoint: { position, last }, token }: Commit) => {
    const encoded = changes.map((change) => ({
      collection: change.collection,
      id: change.id,
      position: change.position,
      body: change.kind === 'put' ? JSON.stringify(change.document) : null,
    }))
    const lastEvent = last && JSON.stringify(last)
    return await submit({ kind: 'commit', projection, changes: encoded, position, last: lastEvent, token })
  }
  /** Also a defect, such as a document that is no JSON, fails only its own commit. */
  const commitAlone = (one: Commit): Promise<E.Either<DocumentsUnavailable, void>> =>
    commit(one).catch((error: unknown) => E.left(unavailable(messageOf(error))))
  return {
    ...reader,
    // The answer is the place of each collection. It is the name, because only this process can replace a collection.
    ensure: async (collections) =>
      E.map(() => collections.map(({ name }) => name))(await submit({ kind: 'ensure', collections })),
    commit: (whose, changes, checkpoint, token = 0) => commit({ whose, changes, checkpoint, token }),
    // Jobs of one turn share a transaction.
    commitAll: (commits) => Promise.all(commits.map(commitAlone)),
    publishProgress: (updates) => submit({ kind: 'publish', updates }),
    discard: (target) => submit({ kind: 'discard', target }),
    promote: (from, to) => submit({ kind: 'promote', from, to }),
    close: async () => {
      // The connection that is closed last merges the write-ahead file. Only the writer can merge it, so it is last.
      await reader.close()
      await writer.close()
    },
  }
}
