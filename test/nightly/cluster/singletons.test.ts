/**
 * Takeover of work that only one process does at a time. `STENOLOG_TEST_SINGLETONS=10` runs ten rounds of each fault
 * (2 without it).
 */
import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import { MongoClient } from 'mongodb'
import { leaseOf } from '../../../projections/projector.ts'
import type { Listing, LiveJson } from '../../support/service/client.ts'
import { startCluster, type ClusterProcess } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { visibilityDelay } from '../../support/tools/visibility-delay.ts'

const ROUNDS = Number(process.env['STENOLOG_TEST_SINGLETONS'] ?? 2)
/** Name of the lease that gives one process the right to fold events into the lists of sessions. */
const LISTS_LEASE = leaseOf({ name: 'lives' })
const PATIENT = { timeoutMs: 120_000 }

interface LeaseDocument {
  readonly _id: string
  readonly holder: string | null
}

const openWorld = async (t: ExecutionContext) => {
  const cluster = await startCluster(t)
  const [api, ...projectors] = await Promise.all([
    cluster.add('api', 'api'),
    cluster.add('lists-1', 'projector'),
    cluster.add('lists-2', 'projector'),
    cluster.add('worker', 'worker'),
  ])
  const client = await new MongoClient(cluster.mongo.url('stenolog')).connect()
  t.teardown(() => client.close())
  const leases = () => client.db().collection<LeaseDocument>('leases').find({}).toArray()
  const speaker = await speakerAt(api.url())
  /** Waits until every lease has a holder that is not the given process. */
  const allHeldWithout = (lostName: string): Promise<unknown> =>
    eventually(
      async () =>
        assert.deepEqual((await leases()).filter(({ holder }) => holder === null || holder === lostName), []),
      PATIENT,
    )
  const listed = async (): Promise<ReadonlyArray<number>> =>
    (await speaker.get<Listing<LiveJson>>('/lives/?limit=1000')).body.data.map(({ id }) => id).toSorted((a, b) => a - b)
  return { projectors: projectors.slice(0, 2), speaker, leases, allHeldWithout, listed }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const FAULTS = {
  killed: { strike: (process: ClusterProcess) => process.kill(), heal: (process: ClusterProcess) => process.start() },
  frozen: {
    strike: async (process: ClusterProcess) => process.freeze(),
    heal: async (process: ClusterProcess) => process.thaw(),
  },
} as const

for (const [name, { strike, heal }] of Object.entries(FAULTS)) {
  test.serial(`another process takes over the projections and duties of a ${name} process`, async (t) => {
    t.timeout(10 * 60_000 * ROUNDS)
    const { projectors, speaker, leases, allHeldWithout, listed } = await openWorld(t)
    const [foldTimes, leaseTimes]: [Array<number>, Array<number>] = [[], []]
    const created = [(await speaker.createLive()).id]
    await eventually(async () => assert.deepEqual(await listed(), created), PATIENT)
    await allHeldWithout('')
    for (let round = 1; round <= ROUNDS; round += 1) {
      const holder = (await leases()).find(({ _id }) => _id === LISTS_LEASE)?.holder
      const [old, next] = projectors.toSorted((a) => (a.name === holder ? -1 : 1))
      assert.ok(old !== undefined && next !== undefined && old.name === holder)
      const struck = performance.now()
      await strike(old)
      const creating = speaker.createLive()
      const taken = allHeldWithout(old.name).then(() => performance.now() - struck)
      await visibilityDelay(
        () => Promise.resolve(),
        async () => (await listed()).length > created.length,
        PATIENT.timeoutMs,
      )
      foldTimes.push(performance.now() - struck)
      created.push((await creating).id)
      leaseTimes.push(await taken)
      t.deepEqual(await listed(), created)
      t.log(
        `round ${round}: the first event is folded after ${seconds(foldTimes.at(-1) ?? NaN)}, ` +
          `all leases are taken after ${seconds(leaseTimes.at(-1) ?? NaN)}`,
      )
      await heal(old)
      t.is((await fetch(`${next.url()}/health/ready`)).status, 200)
      await eventually(async () => t.is((await fetch(`${old.url()}/health/ready`)).status, 200), PATIENT)
    }
    t.log(`${name}: folded ${foldTimes.map(seconds).join(', ')}; leases ${leaseTimes.map(seconds).join(', ')}`)
  })
}
