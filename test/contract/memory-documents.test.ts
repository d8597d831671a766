import { createMemoryDocuments } from '../support/doubles/memory/documents.ts'
import { documentsContract } from './documents.contract.ts'

documentsContract('memory', () => {
  const documents = createMemoryDocuments()
  return Promise.resolve({ documents, close: documents.close })
})
