import test, { type ExecutionContext } from 'ava'
import {
  BEGINNING,
  type EventStore,
  type Position,
  type SubscriptionMessage,
} from '../../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take } from '../event-store-support.ts'
import { PATIENT_LIMITS, patientUrl } from '../../support/stores/eventstoredb-patience.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { serialTestOnChosenStores } from '../../support/running/skip-unless.ts'

const double = await startEventStoreDb()
test.after.always(double.dispose)

const open = async (t: ExecutionContext): Promise<EventStore> => {
  const store = await openEventStoreDb({ url: patientUrl(await double.startEmptyLog()), limits: PATIENT_LIMITS })
  t.teardown(store.close)
  return store
}

const readToEnd = (store: EventStore, from: Position): Promise<ReadonlyArray<SubscriptionMessage>> =>
  take(store.subscribe(from, ['live-'], new AbortController().signal), caughtUp)

const positionOf = (message: SubscriptionMessage): Position =>
  message.kind === 'event' ? message.event.position : message.position

/** The numbers of the `live-keep` events. No scavenge removes events of this stream. */
const keptEventsOf = (messages: ReadonlyArray<SubscriptionMessage>): ReadonlyArray<unknown> =>
  delivered(messages.filter((message) => message.kind === 'event' && message.event.stream === 'live-keep'))

/** Appends events that a scavenge removes between events that it keeps, and events of a foreign stream. */
const fill = async (store: EventStore): Promise<void> => {
  await right(store.setMetadata('live-old', { maxCount: 1 }))
  for (let n = 0; n < 6; n++) {
    await right(store.append('live-old', 'any', newEvents(2)))
    await right(store.append('live-keep', 'any', [newEvent(n)]))
    await right(store.append('live-old', 'any', [newEvent()]))
    if (n === 2) await right(store.append('other', 'any', newEvents(80)))
  }
  await right(store.append('live-old', 'any', [newEvent()]))
}

const scavenge = async (store: EventStore): Promise<void> => {
  await double.inject({ on: 'read', kind: 'scavenge', times: 1 })
  await right(store.head())
}

serialTestOnChosenStores(
  'a subscription resumes from any position, also of a scavenged record, without a loss or repeat',
  async (t) => {
    const store = await open(t)
    await fill(store)
    const whole = await readToEnd(store, BEGINNING)
    t.true(whole.some(({ kind }) => kind === 'checkpoint'))
    await scavenge(store)
    t.is(
      (await readToEnd(store, BEGINNING)).filter(({ kind }) => kind === 'event').length,
      7,
      'the scavenge removed the other events',
    )
    for (const [index, message] of whole.entries()) {
      const rest = await readToEnd(store, positionOf(message))
      t.deepEqual(keptEventsOf(rest), keptEventsOf(whole.slice(index + 1)), `${message.kind} ${positionOf(message)}`)
      t.true(rest.every((later) => positionOf(later) >= positionOf(message)))
    }
  },
)

serialTestOnChosenStores('a scavenge between the backward read and the subscription loses nothing', async (t) => {
  for (let from = 0; from < 3; from++) {
    const store = await open(t)
    await fill(store)
    const whole = await readToEnd(store, BEGINNING)
    const position = positionOf(whole[from] as SubscriptionMessage)
    await double.inject({ on: 'subscribe', kind: 'scavenge', times: 1 })
    t.deepEqual(keptEventsOf(await readToEnd(store, position)), keptEventsOf(whole.slice(from + 1)), `from ${from}`)
  }
})

serialTestOnChosenStores('an unknown position below the end shows that the log is an older copy', async (t) => {
  const store = await open(t)
  const { position } = await right(store.append('live-1', 'no-stream', newEvents(1)))
  await right(store.append('live-2', 'no-stream', newEvents(30)))
  const inside = position.replaceAll(/\d+/g, (digits) =>
    String(Number(digits) + 3).padStart(digits.length, '0'),
  ) as Position
  const error = await t.throwsAsync(readToEnd(store, inside))
  t.like(error?.cause, { _tag: 'OlderLog' })
})

serialTestOnChosenStores(
  'a server that cannot read backwards at the moment is not mistaken for an older log',
  async (t) => {
    const store = await open(t)
    const { position } = await right(store.append('live-1', 'no-stream', newEvents(1)))
    await double.inject({ on: 'read', kind: 'wrong', times: 1 })
    t.deepEqual(delivered(await readToEnd(store, position)), [])
    await double.inject({ on: 'read', kind: 'wrong', times: 2 })
    const error = await t.throwsAsync(readToEnd(store, position))
    t.like(error?.cause, { _tag: 'StoreUnavailable' })
  },
)
