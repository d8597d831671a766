import { EVENTSTORE_FOLDER } from './chosen-stores.ts'
import { startDouble, type EventStoreDbDouble } from '../doubles/eventstoredb/start.ts'
import { startEventStoreServer } from './eventstoredb-server/start.ts'
import type { EventStoreServer } from './eventstoredb-server/start.ts'

/** The double or a real server: killed, frozen and started as a whole. */
export interface TestEventStoreDb extends Omit<EventStoreDbDouble, 'port'> {
  /** Null: the double. */
  readonly server: EventStoreServer | null
}

const onlyTheDouble = (): Promise<never> => Promise.reject(new Error('only the double does that: name the test in skipped-on-servers.ts'))

const startReal = async (): Promise<TestEventStoreDb> => {
  const servers = [await startEventStoreServer()]
  const [{ url, directory, nodes, untilHealthy }] = servers as [Awaited<ReturnType<typeof startEventStoreServer>>]
  return {
    url,
    directory,
    server: servers[0] ?? null,
    another: async () => {
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

/** Starts EventStoreDB with an empty log: the double, or where `STENOLOG_TEST_EVENTSTORE_BIN` is set a real one. */
export const startEventStoreDb = (): Promise<TestEventStoreDb> =>
  EVENTSTORE_FOLDER !== undefined ? startReal() : startDouble().then((double) => ({ ...double, server: null }))
