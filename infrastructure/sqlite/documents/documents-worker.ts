import type { StatementSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import type { Checkpointed, CollectionSpec, ReadModel, ProgressUpdate } from '../../../application/ports/documents.ts'
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

/** False: a writer with a higher token has written the checkpoint. */
export type DocumentsAnswer = boolean

export type DocumentsJob =
  | { readonly kind: 'ensure'; readonly collections: ReadonlyArray<CollectionSpec> }
  | {
      readonly kind: 'commit'
      readonly projection: string
      readonly changes: ReadonlyArray<EncodedChange>
      readonly position: string
      /** JSON, or null. */
      readonly last: string | null
      readonly token: number
    }
  | { readonly kind: 'publish'; readonly updates: ReadonlyArray<ProgressUpdate> }
  | { readonly kind: 'discard'; readonly target: Checkpointed }
  | { readonly kind: 'promote'; readonly from: ReadModel; readonly to: ReadModel }

const { file } = workerData as { readonly file: string }
const database = openForWriting(file, { synchronous: 'NORMAL' })
ensureCheckpoints(database)

const setCheckpoint = database.prepare(`
  INSERT INTO checkpoints(projection, position, last, token) VALUES (?, ?, ?, ?)
  ON CONFLICT(projection) DO UPDATE SET position = excluded.position, last = excluded.last, token = excluded.token
  WHERE excluded.position >= position AND excluded.token >= token
`)
const higherToken = database.prepare('SELECT 1 FROM checkpoints WHERE projection = ? AND token > ?')
const setProgress = database.prepare('UPDATE checkpoints SET told = ? WHERE projection = ? AND token <= ?')
const forgetCheckpoint = database.prepare('DELETE FROM checkpoints WHERE projection = ?')
const renameCheckpoint = database.prepare('UPDATE checkpoints SET projection = ? WHERE projection = ?')
const puts = new Map<string, StatementSync>()

const putInto = (collection: string): StatementSync => {
  const known = puts.get(collection)
  if (known !== undefined) return known
  const put = database.prepare(`
    INSERT INTO ${tableOf(collection)} AS stored (id, position, body) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET position = excluded.position, body = excluded.body
    WHERE excluded.position > stored.position
  `)
  puts.set(collection, put)
  return put
}

const discard = ({ projection, collection }: Checkpointed): void => {
  forgetCheckpoint.run(projection)
  if (collection !== null) database.exec(`DROP TABLE IF EXISTS ${tableOf(collection)}`)
}

const apply = (job: DocumentsJob): DocumentsAnswer => {
  switch (job.kind) {
    case 'ensure':
      for (const { name, indexes } of job.collections) {
        database.exec(tableSchema(name))
        for (const members of indexes) ensureIndex(database, name, members)
      }
      return true
    case 'commit':
      for (const { collection, id, position, body } of job.changes) putInto(collection).run(id, position, body)
      return (
        setCheckpoint.run(job.projection, job.position, job.last, job.token).changes > 0
        || higherToken.get(job.projection, job.token) === undefined
      )
    case 'publish':
      for (const { model, token, progress } of job.updates)
        setProgress.run(JSON.stringify(progress), model.projection, token)
      return true
    case 'discard':
      discard(job.target)
      return true
    case 'promote':
      discard(job.to)
      database.exec(`ALTER TABLE ${tableOf(job.from.collection)} RENAME TO ${tableOf(job.to.collection)}`)
      renameCheckpoint.run(job.to.projection, job.from.projection)
      return true
  }
}

serveGroupCommit<DocumentsJob, DocumentsAnswer>({ database, apply })
