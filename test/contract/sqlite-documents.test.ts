import { join } from 'node:path'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents/documents.ts'
import { temporaryDirectory } from '../support/tools/temporary-directory.ts'
import { documentsContract } from './documents.contract.ts'

documentsContract('sqlite', async () => {
  const { path, remove } = await temporaryDirectory()
  const documents = await openSqliteDocuments({ file: join(path, 'documents.db') })
  return {
    documents,
    close: async () => {
      await documents.close()
      await remove()
    },
  }
})
