import { randomUUID } from 'node:crypto'
import {
  EventStoreDBClient,
  jsonEvent,
  type AllStreamSubscription,
  type StreamSubscription,
} from '@eventstore/db-client'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../tools/eventually.ts'
import { patient } from './patient.ts'
import { startEventStoreDb } from '../../stores/eventstoredb.ts'

const double = await startEventStoreDb()
test.after.always(double.dispose)

const connect = (t: ExecutionContext, url: string): EventStoreDBClient => {
  const client = EventStoreDBClient.connectionString(patient(url))
  t.teardown(() => client.dispose())
  return client
}

/** A client of an empty log, all on one double. */
export const clientOfEmptyLog = async (t: ExecutionContext): Promise<EventStoreDBClient> =>
  connect(t, await double.another())

/** A double that may be killed, and a client of it. */
export const startOwnDouble = async (t: ExecutionContext) => {
  const own = await startEventStoreDb()
  t.teardown(own.dispose)
  return { own, client: connect(t, own.url) }
}

export const factEvent = (id: string = randomUUID(), type = 'Fact') => jsonEvent({ type, id, data: {} })

export const until = (condition: () => boolean): Promise<void> =>
  eventually(() => {
    if (!condition()) throw new Error(`not yet: ${String(condition)}`)
  }, { timeoutMs: 60_000 })

/** What a subscription says, in order. */
export const listen = (
  subscription: AllStreamSubscription | StreamSubscription,
): { readonly told: string[]; readonly errors: Error[] } => {
  const [told, errors]: [string[], Error[]] = [[], []]
  const any = subscription as AllStreamSubscription
  any
    .on('confirmation', () => told.push('confirmation'))
    .on('caughtUp', () => told.push('caughtUp'))
    .on('data', ({ event }) => told.push(`${event?.streamId} ${event?.revision}`))
    .on('end', () => told.push('end'))
    .on('close', () => told.push('close'))
    .on('error', (error: Error) => errors.push(error))
  return { told, errors }
}

/** The events among it, as stream and revision. */
export const eventsOf = ({ told }: { readonly told: ReadonlyArray<string> }): ReadonlyArray<string> =>
  told.filter((said) => / \d+$/.test(said))
