import { join } from 'node:path'
import test from 'ava'
import type { Documents } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { createMongoDocuments } from '../../infrastructure/mongodb/documents.ts'
import { highestToken, mongoGuards } from '../../infrastructure/mongodb/guards.ts'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents/documents.ts'
import { sqliteGuards } from '../../infrastructure/sqlite/documents/guards.ts'
import type { Guard } from '../../infrastructure/store-rules/guard.ts'
import { temporaryDirectory } from '../support/tools/temporary-directory.ts'
import { right } from './event-store-support.ts'
import { onEveryMongo } from './mongodb-support.ts'

const positionAt = (n: number): Position => String(n).padStart(20, '0') as Position

/** Writes one document, one removed document and a checkpoint, and returns their guards. */
const guardsAfterWrites = async (documents: Documents, guards: () => AsyncIterable<Guard> | Iterable<Guard>) => {
  await right(documents.ensure([{ name: 'lives', indexes: [] }]))
  const about = { collection: 'lives', position: positionAt(1) }
  await right(documents.commit(
    { projection: 'lives', collection: 'lives' },
    [{ kind: 'put', id: '1', document: { id: 1 }, ...about }, { kind: 'remove', id: '2', ...about }],
    { position: positionAt(3), last: null },
    7,
  ))
  const found: Array<Guard> = []
  for await (const guard of guards()) found.push(guard)
  return found.map(({ where, position, token }) => [where.replace('lives_v1', 'lives'), Number(position), token])
}

const EXPECTED = [['lives 1', 1, 0], ['lives 2', 1, 0], ['checkpoint of lives', 3, 7]]

test('sqlite: all documents, also removed ones, and checkpoints have guards', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'documents.db')
  const documents = await openSqliteDocuments({ file })
  t.teardown(documents.close)
  t.deepEqual(await guardsAfterWrites(documents, () => sqliteGuards(file, ['lives', 'users'])), EXPECTED)
})

onEveryMongo((name, open) => {
  test.serial(`${name}: all documents, also removed ones, and checkpoints have guards`, async (t) => {
    const { connection, close } = await open()
    t.teardown(close)
    const documents = createMongoDocuments(connection)
    t.deepEqual(await guardsAfterWrites(documents, () => mongoGuards(connection, ['lives', 'users'])), EXPECTED)
    t.is(await highestToken(connection), 0)
    await connection.readModels.collection<{ _id: string; token: number }>('leases').insertMany([
      { _id: 'a', token: 2 }, { _id: 'b', token: 9 },
    ])
    t.is(await highestToken(connection), 9)
  })
})
