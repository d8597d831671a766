import { randomUUID } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { EventStore, SubscriptionMessage } from '../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { PATIENT_LIMITS, patientUrl } from '../support/stores/eventstoredb-patience.ts'
import { EVENTSTORE_FOLDER } from '../support/stores/chosen-stores.ts'
import { startEventStoreServer } from '../support/stores/eventstoredb-server/start.ts'
import { eventStoreContract } from './event-store.contract.ts'

/** Prefixes all stream names of a store with `space`, because all tests share the one log of the server. */
const withStreamSpace = (store: EventStore, space: string): EventStore => {
  const withoutSpace = <A extends { readonly stream: string }>(named: A): A => ({
    ...named,
    stream: named.stream.slice(space.length),
  })
  const renamed = (message: SubscriptionMessage): SubscriptionMessage =>
    message.kind === 'event' ? { ...message, event: withoutSpace(message.event) } : message
  return {
    ...store,
    append: async (stream, expected, events) =>
      pipe(
        await store.append(space + stream, expected, events),
        E.mapLeft((left) => (left._tag === 'WrongRevision' ? withoutSpace(left) : left)),
      ),
    read: async (stream, options) =>
      pipe(await store.read(space + stream, options), E.map((events) => events.map(withoutSpace))),
    setMetadata: (stream, metadata) => store.setMetadata(space + stream, metadata),
    deleteStream: (stream) => store.deleteStream(space + stream),
    subscribe: async function* (from, prefixes, signal) {
      for await (const message of store.subscribe(from, prefixes.map((prefix) => space + prefix), signal))
        yield renamed(message)
    },
  }
}

/** The URL of the configured server, or of a newly started server. Undefined when neither exists. */
const startServer = (): Promise<string> | undefined => {
  const configured = process.env['STENOLOG_TEST_EVENTSTORE_URL']
  if (configured !== undefined) return Promise.resolve(configured)
  if (EVENTSTORE_FOLDER === undefined) return undefined
  const server = startEventStoreServer()
  test.after.always(async () => (await server).dispose())
  return server.then(({ url }) => url)
}

const url = startServer()

if (url === undefined) test.skip('the contract of event stores on a real server', (t) => t.fail())
else
  eventStoreContract(
    'server',
    async () => {
      const store = await openEventStoreDb({ url: patientUrl(await url), limits: PATIENT_LIMITS })
      return { store: withStreamSpace(store, `test-${randomUUID()}-`), close: store.close }
    },
    { run: test.serial, isShared: true },
  )
