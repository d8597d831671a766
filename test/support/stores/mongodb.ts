import { v7 } from 'uuid'
import { startMongoDouble } from '../doubles/mongodb/process.ts'
import { MONGO_SERVER } from './chosen-stores.ts'

/** Returns the connection string with another database. */
export const withDatabase = (url: string, database: string): string =>
  url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`)

/** An empty MongoDB for one service. */
interface TestMongo {
  readonly url: string
  /** The directory of the double's data; null for a server that runs elsewhere. */
  readonly directory: string | null
  readonly dispose: () => Promise<void>
}

/** Uses a new database on the running server. `dispose` drops it and the database of the keyring. */
const useServer = async (server: string): Promise<TestMongo> => {
  const { connectMongo } = await import('../../../infrastructure/mongodb/connection.ts')
  const url = withDatabase(server, `stenolog_test_${v7().replaceAll('-', '')}`)
  return {
    url,
    directory: null,
    dispose: async () => {
      const connection = await connectMongo(url)
      await Promise.all([connection.readModels.dropDatabase(), connection.keyring.dropDatabase()])
      await connection.close()
    },
  }
}

/** Starts the double, or uses the server that STENOLOG_TEST_MONGO_URL names. */
export const startTestMongo = async (): Promise<TestMongo> => {
  if (MONGO_SERVER !== undefined) return useServer(MONGO_SERVER)
  const double = await startMongoDouble()
  return { url: double.url('stenolog'), directory: double.directory, dispose: double.dispose }
}
