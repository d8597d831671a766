const stores = process.env['STENOLOG_TEST_STORES'] ?? 'embedded'
if (!['embedded', 'servers'].includes(stores))
  throw new Error(`STENOLOG_TEST_STORES must be embedded or servers, not ${stores}`)

/** Services of the tests store their data in EventStoreDB and MongoDB (STENOLOG_TEST_STORES=servers). */
export const isOnServers = stores === 'servers'

/** The folder of a real EventStoreDB, which the tests use instead of the double. Undefined: the double. */
export const EVENTSTORE_FOLDER = process.env['STENOLOG_TEST_EVENTSTORE_BIN']

/** The URL of a running MongoDB, which the tests use instead of the double. Undefined: the double. */
export const MONGO_SERVER = process.env['STENOLOG_TEST_MONGO_URL']

/** The number of nodes of the real EventStoreDB: 1 or 3. */
export const EVENTSTORE_NODES = Number(process.env['STENOLOG_TEST_EVENTSTORE_NODES'] ?? 1)
