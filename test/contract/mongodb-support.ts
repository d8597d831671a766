import test from 'ava'
import { v7 } from 'uuid'
import { connectMongo, type MongoConnection } from '../../infrastructure/mongodb/connection.ts'
import { startMongoDouble, type MongoDouble } from '../support/doubles/mongodb/process.ts'
import { MONGO_SERVER } from '../support/stores/chosen-stores.ts'
import { withDatabase } from '../support/stores/mongodb.ts'

interface Opened {
  readonly connection: MongoConnection
  readonly close: () => Promise<void>
}

/** The contracts do not test timeouts, so this limit is above every delay of a busy machine. */
const LIMIT_MS = 60_000

/** Connects to a new database, and drops the database on close. */
const openAt = async (url: string): Promise<Opened> => {
  const connection = await connectMongo(withDatabase(url, `stenolog_test_${v7().replaceAll('-', '')}`), {
    limitMs: LIMIT_MS,
  })
  return {
    connection,
    close: async () => {
      await Promise.all([connection.readModels.dropDatabase(), connection.keyring.dropDatabase()])
      await connection.close()
    },
  }
}

/**
 * Runs a contract on the double, as a standalone server and as a replica set, and on the real server of
 * STENOLOG_TEST_MONGO_URL. Without that variable the report shows a skipped test.
 */
export const onEveryMongo = (contract: (name: string, open: () => Promise<Opened>) => void): void => {
  for (const replicaSet of ['', 'rs0']) {
    let double: MongoDouble | undefined
    test.before(async () => {
      double = await startMongoDouble({ replicaSet })
    })
    test.after.always(() => double?.dispose())
    contract(replicaSet === '' ? 'mongodb standalone' : 'mongodb replica set', () => openAt(double?.url('any') ?? ''))
  }
  const server = MONGO_SERVER
  if (server === undefined) test.skip('the server that STENOLOG_TEST_MONGO_URL names', (t) => t.fail())
  else contract('mongodb server', () => openAt(server))
}
