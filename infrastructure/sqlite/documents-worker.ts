import type { StatementSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import type { CollectionSpec } from '../../application/ports/documents.ts'
import { openForWriting } from './database.ts'
import { indexSchema, tableOf, tableSchema } from './documents-schema.ts'
import { serveGroupCommit } from './group-commit.ts'

interface EncodedChange {
  readonly collection: string
  readonly id: string
  readonly position: string
  /** JSON, or null for a removal. */
  readonly body: string | null
}

export type DocumentsJob =
  | { readonly kind: 'ensure'; readonly collections: ReadonlyArray<CollectionSpec> }
  | { readonly kind: 'commit'; readonly projection: string; readonly changes: ReadonlyArray<EncodedChange>; readonly checkpoint: string }

const { file } = workerData as { readonly file: string }
const database = openForWriting(file, { synchronous: 'NORMAL' })
database.exec('CREATE TABLE IF NOT EXISTS checkpoints(projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT')

const setCheckpoint = database.prepare(`
  INSERT INTO checkpoints(projection, position) VALUES (?, ?)
  ON CONFLICT(projection) DO UPDATE SET position = excluded.position WHERE excluded.position > position
`)
const puts = new Map<string, StatementSync>()

const putInto = (collection: string): StatementSync => {
  const known = puts.get(collection)
  if (known !== undefined) return known
  const table = tableOf(collection)
  const put = database.prepare(`
    INSERT INTO ${table} AS stored (id, position, body) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET position = excluded.position, body = excluded.body WHERE excluded.position > stored.position
  `)
  puts.set(collection, put)
  return put
}

const apply = (job: DocumentsJob): void => {
  switch (job.kind) {
    case 'ensure':
      for (const { name, indexes } of job.collections) {
        database.exec(tableSchema(name))
        for (const members of indexes) database.exec(indexSchema(name, members))
      }
      return
    case 'commit':
      for (const { collection, id, position, body } of job.changes) putInto(collection).run(id, position, body)
      setCheckpoint.run(job.projection, job.checkpoint)
  }
}

serveGroupCommit<DocumentsJob, void>({ database, apply })
