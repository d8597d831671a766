const stores = process.env['STENOLOG_TEST_STORES'] ?? 'embedded'
if (!['embedded', 'servers'].includes(stores)) throw new Error(`STENOLOG_TEST_STORES should be embedded or servers, not ${stores}`)

/** `STENOLOG_TEST_STORES=servers`: services of the tests keep their data in an EventStoreDB and a MongoDB of their own, not embedded. */
export const isOnServers = stores === 'servers'

/** The folder of a real EventStoreDB, which takes the place of its double wherever that is used; undefined: there is none. */
export const EVENTSTORE_FOLDER = process.env['STENOLOG_TEST_EVENTSTORE_BIN']

/** A running MongoDB that takes the place of the double; undefined: the double. */
export const MONGO_SERVER = process.env['STENOLOG_TEST_MONGO_URL']

/** Nodes of a real EventStoreDB. */
export const EVENTSTORE_NODES = Number(process.env['STENOLOG_TEST_EVENTSTORE_NODES'] ?? 1)
