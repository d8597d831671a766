import type { StatementSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import type { Checkpointed, CollectionSpec, ReadModel } from '../../../application/ports/documents.ts'
import { openForWriting } from '../database.ts'
import { ensureCheckpoints, ensureIndex, tableOf, tableSchema } from './documents-schema.ts'
import { serveGroupCommit } from '../group-commit.ts'

interface EncodedChange {
  readonly collection: string
  readonly id: string
  readonly position: string
  /** JSON, or null for a removal. */
  readonly body: string | null
}

export type DocumentsJob =
  | { readonly kind: 'ensure'; readonly collections: ReadonlyArray<CollectionSpec> }
  | {
      readonly kind: 'commit'
      readonly projection: string
      readonly changes: ReadonlyArray<EncodedChange>
      readonly position: string
      /** JSON, or null. */
      readonly last: string | null
    }
  | { readonly kind: 'discard'; readonly whose: Checkpointed }
  | { readonly kind: 'promote'; readonly from: ReadModel; readonly to: ReadModel }

const { file } = workerData as { readonly file: string }
const database = openForWriting(file, { synchronous: 'NORMAL' })
ensureCheckpoints(database)

const setCheckpoint = database.prepare(`
  INSERT INTO checkpoints(projection, position, last) VALUES (?, ?, ?)
  ON CONFLICT(projection) DO UPDATE SET position = excluded.position, last = excluded.last WHERE excluded.position > position
`)
const forgetCheckpoint = database.prepare('DELETE FROM checkpoints WHERE projection = ?')
const renameCheckpoint = database.prepare('UPDATE checkpoints SET projection = ? WHERE projection = ?')
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

const discard = ({ projection, collection }: Checkpointed): void => {
  forgetCheckpoint.run(projection)
  if (collection !== null) database.exec(`DROP TABLE IF EXISTS ${tableOf(collection)}`)
}

const apply = (job: DocumentsJob): void => {
  switch (job.kind) {
    case 'ensure':
      for (const { name, indexes } of job.collections) {
        database.exec(tableSchema(name))
        for (const members of indexes) ensureIndex(database, name, members)
      }
      return
    case 'commit':
      for (const { collection, id, position, body } of job.changes) putInto(collection).run(id, position, body)
      setCheckpoint.run(job.projection, job.position, job.last)
      return
    case 'discard':
      discard(job.whose)
      return
    case 'promote':
      discard(job.to)
      database.exec(`ALTER TABLE ${tableOf(job.from.collection)} RENAME TO ${tableOf(job.to.collection)}`)
      renameCheckpoint.run(job.to.projection, job.from.projection)
  }
}

serveGroupCommit<DocumentsJob, void>({ database, apply })
