import { randomUUID } from 'node:crypto'
import test from 'ava'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type {
  EventStore,
  StoredEvent,
  StoreUnavailable,
  SubscriptionMessage,
  WrongRevision,
} from '../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { PATIENT_LIMITS, patient } from '../support/doubles/eventstoredb/patient.ts'
import { EVENTSTORE_FOLDER } from '../support/stores/chosen-stores.ts'
import { startEventStoreServer } from '../support/stores/eventstoredb-server/start.ts'
import { eventStoreContract } from './event-store.contract.ts'

/** The same store, its streams under names of their own: a server has one log for all tests. */
const apart = (store: EventStore, space: string): EventStore => {
  const ours = <A extends { readonly stream: string }>(named: A): A => ({
    ...named,
    stream: named.stream.slice(space.length),
  })
  const message = (told: SubscriptionMessage): SubscriptionMessage =>
    told.kind === 'event' ? { ...told, event: ours(told.event) } : told
  return {
    ...store,
    append: (stream, expected, events) =>
      TE.mapLeft((left: WrongRevision | StoreUnavailable) => (left._tag === 'WrongRevision' ? ours(left) : left))(
        store.append(space + stream, expected, events),
      ),
    read: (stream, options) =>
      TE.map((events: ReadonlyArray<StoredEvent>) => events.map(ours))(store.read(space + stream, options)),
    setMetadata: (stream, metadata) => store.setMetadata(space + stream, metadata),
    deleteStream: (stream) => store.deleteStream(space + stream),
    subscribe: async function* (from, prefixes, signal) {
      for await (const told of store.subscribe(
        from,
        prefixes.map((prefix) => space + prefix),
        signal,
      ))
        yield message(told)
    },
  }
}

/** Of the server that the environment names, or of one of our own; undefined: there is neither. */
const startServer = (): Promise<string> | undefined => {
  const named = process.env['STENOLOG_TEST_EVENTSTORE_URL']
  if (named !== undefined) return Promise.resolve(named)
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
      const store = await openEventStoreDb({ url: patient(await url), limits: PATIENT_LIMITS })
      return { store: apart(store, `test-${randomUUID()}-`), close: store.close }
    },
    { run: test.serial, isShared: true },
  )
