import { EVENTSTORE_FOLDER } from './chosen-stores.ts'
import { startDouble, type EventStoreDbDouble } from '../doubles/eventstoredb/start.ts'
import { startEventStoreServer, type EventStoreServer } from './eventstoredb-server/start.ts'

/** The double or a real server. All nodes of a real server are killed, frozen and started together. */
export interface TestEventStoreDb extends Omit<EventStoreDbDouble, 'port'> {
  /** The real server; null: the double. */
  readonly server: EventStoreServer | null
}

const onlyTheDouble = (): Promise<never> =>
  Promise.reject(new Error('only the double can inject faults: list the test in skipped-on-servers.ts'))

const startReal = async (): Promise<TestEventStoreDb> => {
  const first = await startEventStoreServer()
  const servers = [first]
  const { url, directory, nodes, untilHealthy } = first
  return {
    url,
    directory,
    server: first,
    startEmptyLog: async () => {
      const server = await startEventStoreServer()
      servers.push(server)
      return server.url
    },
    inject: onlyTheDouble,
    drop: onlyTheDouble,
    freeze: () => nodes.forEach((node) => node.freeze()),
    thaw: () => nodes.forEach((node) => node.thaw()),
    kill: async () => void (await Promise.all(nodes.map((node) => node.kill()))),
    start: async () => {
      await Promise.all(nodes.map((node) => node.start()))
      await untilHealthy()
    },
    dispose: async () => void (await Promise.all(servers.map((server) => server.dispose()))),
  }
}

/** Starts an EventStoreDB with an empty log: the double, or a real server if STENOLOG_TEST_EVENTSTORE_BIN is set. */
export const startEventStoreDb = (): Promise<TestEventStoreDb> =>
  EVENTSTORE_FOLDER !== undefined ? startReal() : startDouble().then((double) => ({ ...double, server: null }))
