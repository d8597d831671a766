import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents/documents.ts'
import { temporaryDirectory } from '../support/tools/temporary-directory.ts'
import { documentsContract } from './documents.contract.ts'
import { commit, everything, put } from './documents-support.ts'
import { right } from './event-store-support.ts'

const open = async () => {
  const { path, remove } = await temporaryDirectory()
  const file = join(path, 'documents.db')
  const documents = await openSqliteDocuments({ file })
  const close = async (): Promise<void> => {
    await documents.close()
    await remove()
  }
  return { file, documents, close }
}

documentsContract('sqlite', open)

test('a document that is not JSON makes reads fail as unavailable, and the reason does not quote it', async (t) => {
  const { file, documents, close } = await open()
  t.teardown(close)
  await right(documents.ensure([{ name: 'lives', indexes: [] }]))
  await commit(documents, [put('1', 1, { id: 1 }), put('2', 1, { id: 2 })])
  const writer = new DatabaseSync(file)
  writer.exec("UPDATE documents_lives SET body = 'Hidden words' WHERE id = '1'")
  writer.close()
  const unavailable = E.left({ _tag: 'DocumentsUnavailable', reason: 'a stored document is not JSON' })
  t.deepEqual(await documents.get('lives', '1'), unavailable)
  t.deepEqual(await documents.find('lives', ['1', '2']), unavailable)
  t.deepEqual(await documents.page('lives', everything), unavailable)
  t.true(E.isRight(await documents.get('lives', '2')))
})
