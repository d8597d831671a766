import { randomUUID } from 'node:crypto'
import {
  EventStoreDBClient,
  jsonEvent,
  type AllStreamSubscription,
  type StreamSubscription,
} from '@eventstore/db-client'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../tools/eventually.ts'
import { patientUrl } from './eventstoredb-patience.ts'
import { startEventStoreDb } from './eventstoredb.ts'

const double = await startEventStoreDb()
test.after.always(double.dispose)

const connect = (t: ExecutionContext, url: string): EventStoreDBClient => {
  const client = EventStoreDBClient.connectionString(patientUrl(url))
  t.teardown(() => client.dispose())
  return client
}

/** Returns a client of an empty log. All logs of a test file are on one server. */
export const clientOfEmptyLog = async (t: ExecutionContext): Promise<EventStoreDBClient> =>
  connect(t, await double.startEmptyLog())

/** Starts a separate server, which a test may kill, and a client of it. */
export const startOwnEventStoreDb = async (t: ExecutionContext) => {
  const own = await startEventStoreDb()
  t.teardown(own.dispose)
  return { own, client: connect(t, own.url) }
}

export const factEvent = (id: string = randomUUID(), type = 'Fact') => jsonEvent({ type, id, data: {} })

export const until = (condition: () => boolean): Promise<void> =>
  eventually(() => {
    if (!condition()) throw new Error(`still false: ${String(condition)}`)
  }, { timeoutMs: 60_000 })

interface RecordedSubscription {
  readonly messages: ReadonlyArray<string>
  readonly errors: ReadonlyArray<Error>
}

/** Records the messages of a subscription, in order. An event is recorded as `stream revision`. */
export const recordSubscription = (
  subscription: AllStreamSubscription | StreamSubscription,
): RecordedSubscription => {
  const [messages, errors]: [string[], Error[]] = [[], []]
  const all = subscription as AllStreamSubscription
  all
    .on('confirmation', () => messages.push('confirmation'))
    .on('caughtUp', () => messages.push('caughtUp'))
    .on('data', ({ event }) => messages.push(`${event?.streamId} ${event?.revision}`))
    .on('end', () => messages.push('end'))
    .on('close', () => messages.push('close'))
    .on('error', (error: Error) => errors.push(error))
  return { messages, errors }
}

/** The events among the messages, as `stream revision`. */
export const eventsOf = ({ messages }: Pick<RecordedSubscription, 'messages'>): ReadonlyArray<string> =>
  messages.filter((message) => / \d+$/.test(message))
