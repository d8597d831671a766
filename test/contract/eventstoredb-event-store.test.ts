import { EventStoreDBClient } from '@eventstore/db-client'
import test, { type ExecutionContext } from 'ava'
import { v7 } from 'uuid'
import type { Timers } from '../../application/ports/timers.ts'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import type { LogOwner, Ownership } from '../../infrastructure/eventstoredb/mark/log-owner.ts'
import { systemTimers } from '../../infrastructure/process/system-timers.ts'
import { FORMAT } from '../../infrastructure/store-rules/format.ts'
import { PATIENT_LIMITS, patientUrl } from '../support/stores/eventstoredb-patience.ts'
import { EVENTSTORE_FOLDER } from '../support/stores/chosen-stores.ts'
import { startDouble } from '../support/doubles/eventstoredb/start.ts'
import { startEventStoreServer } from '../support/stores/eventstoredb-server/start.ts'
import { right } from './event-store-support.ts'
import { eventStoreContract } from './event-store.contract.ts'

const double = EVENTSTORE_FOLDER === undefined ? await startDouble() : null
test.after.always(() => double?.dispose())

/** Starts an empty log. One process of the double holds many logs; a real server holds a single log. */
const startLog = async (t: ExecutionContext): Promise<string> => {
  if (double !== null) return await double.startEmptyLog()
  const { url, dispose } = await startEventStoreServer()
  t.teardown(dispose)
  return url
}

// On a real server eventstoredb-server.test.ts runs the contract. The tests are serial, because they share one double.
if (double !== null)
  eventStoreContract(
    'eventstoredb',
    async () => {
      const store = await openEventStoreDb({ url: patientUrl(await double.startEmptyLog()), limits: PATIENT_LIMITS })
      return { store, close: store.close }
    },
    { run: test.serial },
  )

/** Opens a log as an owner with the members of `claimed`, and closes it after the test. */
const openAs = async (
  t: ExecutionContext,
  url: string,
  claimed: Partial<LogOwner>,
  { prefix = null, ...others }: Partial<Ownership> & { readonly prefix?: string | null } = {},
) => {
  const taken = Promise.withResolvers<string>()
  const owner = {
    name: 'alpha',
    incarnation: v7(),
    directory: 'here',
    host: 'h',
    pid: 7,
    since: 'now',
    cluster: null,
    ...claimed,
  }
  const timers: Timers = { after: (_ms, task) => systemTimers.after(1, task) }
  const ownershipProblem = () => Promise.resolve(null)
  const ownership = {
    owner,
    takesOver: false,
    ownershipProblem,
    timers,
    checkIntervalMs: 1,
    onTaken: taken.resolve,
    ...others,
  }
  const store = await openEventStoreDb({ url: patientUrl(url), limits: PATIENT_LIMITS, ownership, prefix })
  t.teardown(store.close)
  return { store, taken: taken.promise }
}

test.serial('services with different prefixes have separate logs with separate owners on one server', async (t) => {
  const url = await startLog(t)
  await openAs(t, url, { directory: 'a' }, { prefix: 'a' })
  await openAs(t, url, { directory: 'b' }, { prefix: 'b' })
  await openAs(t, url, { directory: 'c' })
  await t.throwsAsync(openAs(t, url, { directory: 'd' }, { prefix: 'a' }), { message: /belongs to/ })
})

test.serial('a log belongs to its first data directory or MongoDB database; another owner is refused', async (t) => {
  const url = await startLog(t)
  const { store } = await openAs(t, url, {})
  const head = await right(store.head())
  const message =
    'the log of the event store belongs to another data directory, used by "alpha" (process 7 on h, since now). ' +
    'Processes can share a log only if they share a MongoDB. ' +
    'If that directory is lost for good, `stenolog log take-over` gives the log to this service'
  for (const other of [{ directory: 'there' }, { name: 'beta', directory: 'there', cluster: 'c' }])
    await t.throwsAsync(openAs(t, url, other), { message })
  const reader = await openEventStoreDb({ url: patientUrl(url), limits: PATIENT_LIMITS })
  await reader.close()
  t.is(await right(store.head()), head)

  await openAs(t, url, { name: 'renamed', cluster: 'c' })
  await openAs(t, url, { directory: 'there', cluster: 'c' })
  // The first directory is refused too, because processes that share the log may still run.
  for (const other of [{ directory: 'elsewhere', cluster: 'd' }, { cluster: 'd' }, {}])
    await t.throwsAsync(openAs(t, url, other), {
      message: /belongs to the processes of another MongoDB, such as "renamed" .*\. Processes can share/,
    })
})

test.serial('processes of one MongoDB database share a log, and each learns of a new owner', async (t) => {
  const url = await startLog(t)
  const client = EventStoreDBClient.connectionString(url)
  t.teardown(() => client.dispose())
  const [first, second, third] = [
    await openAs(t, url, { cluster: 'c' }),
    await openAs(t, url, { name: 'beta', directory: 'there', cluster: 'c' }),
    await openAs(t, url, { name: 'gamma', directory: 'elsewhere', cluster: 'c' }),
  ]
  const { metadata } = await client.getStreamMetadata('stenolog')
  t.like(metadata, { owner: { name: 'alpha', cluster: 'c' } })
  // Earlier versions stored the last process as the owner.
  await client.setStreamMetadata('stenolog', {
    ...metadata,
    owner: { ...(metadata?.['owner'] as LogOwner), name: 'delta', incarnation: v7() },
  })
  const fourth = await openAs(t, url, { name: 'epsilon', directory: 'far', cluster: 'c' })
  await openAs(t, url, { name: 'zeta', directory: 'away' }, { takesOver: true })
  for (const { taken } of [first, second, third, fourth])
    t.is(await taken, 'the process "zeta" (process 7 on h, since now) has taken over the log of the event store')
})

test.serial('a member raises the format of a shared log and leaves its owner unchanged', async (t) => {
  const url = await startLog(t)
  const client = EventStoreDBClient.connectionString(url)
  t.teardown(() => client.dispose())
  await openAs(t, url, { cluster: 'c' })
  const { metadata } = await client.getStreamMetadata('stenolog')
  await client.setStreamMetadata('stenolog', { ...metadata, format: FORMAT - 1 })
  await openAs(t, url, { name: 'beta', directory: 'there', cluster: 'c' })
  t.like((await client.getStreamMetadata('stenolog')).metadata, { format: FORMAT, owner: { name: 'alpha' } })
})

test.serial('the previous owner learns that its log was taken, and the metadata keeps its other members', async (t) => {
  const url = await startLog(t)
  const first = await openAs(t, url, {})
  await right(first.store.setMetadata('stenolog', { maxCount: 9 }))
  const second = await openAs(t, url, { name: 'beta', directory: 'there' }, { takesOver: true })
  t.is(await first.taken, 'the process "beta" (process 7 on h, since now) has taken over the log of the event store')
  t.is(await Promise.race([second.taken, first.taken.then(() => 'kept')]), 'kept')
  const client = EventStoreDBClient.connectionString(url)
  t.teardown(() => client.dispose())
  t.like((await client.getStreamMetadata('stenolog')).metadata, { format: FORMAT, maxCount: 9 })
})

test.serial('a member that was replaced in MongoDB before it opened the log does not take the log over', async (t) => {
  const url = await startLog(t)
  const second = { name: 'beta', directory: 'there', cluster: 'c' }
  // The member is replaced during its check, so its write is refused and the second check names the reason.
  const replacing = async (): Promise<null> => {
    await openAs(t, url, second)
    return null
  }
  let checks = 0
  const ownershipProblem = (): Promise<string | null> =>
    ++checks === 1 ? replacing() : Promise.resolve('beta has its place')
  await t.throwsAsync(openAs(t, url, { cluster: 'c' }, { ownershipProblem }), { message: 'beta has its place' })
  t.is(checks, 2)
})

test.serial('exactly one of many concurrent processes owns a new log', async (t) => {
  const url = await startLog(t)
  const opened = await Promise.allSettled(['a', 'b', 'c'].map((directory) => openAs(t, url, { directory })))
  t.is(opened.filter(({ status }) => status === 'fulfilled').length, 1)
})
