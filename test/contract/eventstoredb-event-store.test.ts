import { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { v7 } from 'uuid'
import type { Timers } from '../../application/ports/timers.ts'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import type { LogOwner, Ownership } from '../../infrastructure/eventstoredb/mark/log-owner.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { FORMAT } from '../../infrastructure/stores/format.ts'
import { PATIENT_LIMITS, patient } from '../support/doubles/eventstoredb/patient.ts'
import { EVENTSTORE_FOLDER } from '../support/stores/chosen-stores.ts'
import { startDouble } from '../support/doubles/eventstoredb/start.ts'
import { startEventStoreServer } from '../support/stores/eventstoredb-server/start.ts'
import { right } from './event-store-support.ts'
import { eventStoreContract } from './event-store.contract.ts'

const double = EVENTSTORE_FOLDER === undefined ? await startDouble() : null
test.after.always(() => double?.dispose())

/** An empty log: the double has many in one process, a real server one. */
const startLog = async (t: ExecutionContext): Promise<string> => {
  if (double !== null) return await double.another()
  const { url, dispose } = await startEventStoreServer()
  t.teardown(dispose)
  return url
}

// On a real server eventstoredb-server.test.ts runs it. One after another: the double has one process for all.
if (double !== null)
  eventStoreContract(
    'eventstoredb',
    async () => {
      const store = await openEventStoreDb({ url: patient(await double.another()), limits: PATIENT_LIMITS })
      return { store, close: store.close }
    },
    { run: test.serial },
  )

/** Opens a log as the process that says so of itself, for as long as the test lasts. */
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
  const ownership = { owner, takesOver: false, ownershipProblem, timers, checkIntervalMs: 1, onTaken: taken.resolve, ...others }
  const store = await openEventStoreDb({ url: patient(url), limits: PATIENT_LIMITS, ownership, prefix })
  t.teardown(store.close)
  return { store, taken: taken.promise }
}

test.serial(
  'services with prefixes of their own have a log each on one server, and each belongs to its own',
  async (t) => {
    const url = await startLog(t)
    await openAs(t, url, { directory: 'a' }, { prefix: 'a' })
    await openAs(t, url, { directory: 'b' }, { prefix: 'b' })
    await openAs(t, url, { directory: 'c' })
    await t.throwsAsync(openAs(t, url, { directory: 'd' }, { prefix: 'a' }), { message: /belongs to/ })
  },
)

test.serial(
  'a log belongs to the data directory that opened it first, or to its MongoDB; another is refused and changes nothing',
  async (t) => {
    const url = await startLog(t)
    const { store } = await openAs(t, url, {})
    const head = await right(store.head())
    const told =
      'the log of the event store belongs to another data directory, used by "alpha" (process 7 on h, since now). ' +
      'Processes can share a log only if they share a MongoDB. If that directory is gone for good, `stenolog log take-over` gives the log to this one'
    for (const other of [{ directory: 'there' }, { name: 'beta', directory: 'there', cluster: 'c' }])
      await t.throwsAsync(openAs(t, url, other), { message: told })
    const reader = await openEventStoreDb({ url: patient(url), limits: PATIENT_LIMITS })
    await reader.close()
    t.is(await right(store.head()), head)

    await openAs(t, url, { name: 'renamed', cluster: 'c' })
    await openAs(t, url, { directory: 'there', cluster: 'c' })
    // Also from the first one's directory: what shares the log with it may still run.
    for (const other of [{ directory: 'elsewhere', cluster: 'd' }, { cluster: 'd' }, {}])
      await t.throwsAsync(openAs(t, url, other), {
        message: /belongs to the processes of another MongoDB, such as "renamed" .*\. Processes can share/,
      })
  },
)

test.serial('processes of one MongoDB share a log: none takes it from another, and all hear of who does', async (t) => {
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
  // As a version before this left it, which wrote whoever came last.
  await client.setStreamMetadata('stenolog', {
    ...metadata,
    owner: { ...(metadata?.['owner'] as LogOwner), name: 'delta', incarnation: v7() },
  })
  const fourth = await openAs(t, url, { name: 'epsilon', directory: 'far', cluster: 'c' })
  await openAs(t, url, { name: 'zeta', directory: 'away' }, { takesOver: true })
  for (const { taken } of [first, second, third, fourth])
    t.is(await taken, 'the process "zeta" (process 7 on h, since now) has taken over the log of the event store')
})

test.serial('a member raises the format of a log that it shares, and leaves whose it is', async (t) => {
  const url = await startLog(t)
  const client = EventStoreDBClient.connectionString(url)
  t.teardown(() => client.dispose())
  await openAs(t, url, { cluster: 'c' })
  const { metadata } = await client.getStreamMetadata('stenolog')
  await client.setStreamMetadata('stenolog', { ...metadata, format: FORMAT - 1 })
  await openAs(t, url, { name: 'beta', directory: 'there', cluster: 'c' })
  t.like((await client.getStreamMetadata('stenolog')).metadata, { format: FORMAT, owner: { name: 'alpha' } })
})

test.serial('whose log was taken is told so, and the mark keeps its other members', async (t) => {
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

test.serial('who was replaced in MongoDB before it had the log does not take it from who has its place', async (t) => {
  const url = await startLog(t)
  const second = { name: 'beta', directory: 'there', cluster: 'c' }
  // Replaced while it asks, so that its write is refused, then told so.
  const replacing = async (): Promise<null> => {
    await openAs(t, url, second)
    return null
  }
  let asked = 0
  const ownershipProblem = (): Promise<string | null> => (++asked === 1 ? replacing() : Promise.resolve('beta has its place'))
  await t.throwsAsync(openAs(t, url, { cluster: 'c' }, { ownershipProblem }), { message: 'beta has its place' })
  t.is(asked, 2)
})

test.serial('of many that open a new log at once one has it', async (t) => {
  const url = await startLog(t)
  const opened = await Promise.allSettled(['a', 'b', 'c'].map((directory) => openAs(t, url, { directory })))
  t.is(opened.filter(({ status }) => status === 'fulfilled').length, 1)
})
