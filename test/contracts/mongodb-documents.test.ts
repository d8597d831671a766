import test from 'ava'
import { createMongoDocuments } from '../../infrastructure/mongodb/documents.ts'
import { documentsContract } from './documents.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

onEveryMongo((name, open) => {
  documentsContract(name, async () => {
    const { connection, close } = await open()
    return { documents: createMongoDocuments(connection), close }
  }, test.serial)
})
