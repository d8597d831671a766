/**
 * Measures how fast another process shows a write. `STENOLOG_TEST_ROUNDS=1000` runs 1,000 rounds of each kind of write
 * (100 without it).
 */
import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { followErasures } from '../../../infrastructure/keys/follow-erasures.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { erasedLately, openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { right } from '../../contract/event-store-support.ts'
import { createClient, type Json, type Listing, type LiveJson, type Single } from '../../support/service/client.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { sealedMembers, plainMembers } from '../../support/events/sealed-texts.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { percentile, visibilityDelay } from '../../support/tools/visibility-delay.ts'

const ROUNDS = Number(process.env['STENOLOG_TEST_ROUNDS'] ?? 100)
const MINUTE = 60_000

const summary = (subject: string, times: ReadonlyArray<number>): string =>
  `${subject}: p50 ${percentile(times, 0.5).toFixed(0)}, p99 ${percentile(times, 0.99).toFixed(0)}, ` +
  `longest ${Math.max(...times).toFixed(0)} ms of ${times.length}`

test.serial('a write through one process soon shows in another process', async (t) => {
  t.timeout(20 * MINUTE)
  const { apis: [one, two] } = await startSplitCluster(t)
  const here = await speakerAt(one.url())
  const there = createClient(two.url(), here.token)
  const times: Record<'live by its id' | 'live in the list' | 'state of an ended live' | 'profile', Array<number>> =
    { 'live by its id': [], 'live in the list': [], 'state of an ended live': [], 'profile': [] }
  for (let round = 0; round < ROUNDS; round += 1) {
    let live: LiveJson | undefined
    times['live by its id'].push(await visibilityDelay(
      async () => { live = await here.createLive() },
      async () => (await there.get(`/lives/${live?.id}`)).status === 200,
    ))
    await here.put(`/lives/${live?.id}/finish`)
    times['state of an ended live'].push(await visibilityDelay(
      async () => undefined,
      async () => (await there.get<Single<Json>>(`/lives/${live?.id}`)).body.data['status'] === 'finished',
    ))
    times['live in the list'].push(await visibilityDelay(
      async () => { live = await here.createLive() },
      async () => (await there.get<Listing<{ readonly id: number }>>('/lives/?limit=1')).body.data[0]?.id === live?.id,
    ))
    await here.put(`/lives/${live?.id}/finish`)
    let profile: Single<Json> | undefined
    times.profile.push(
      await visibilityDelay(
        async () => {
          profile = (await here.post<Single<Json>>('/user-live-configs/', { name: `made in ${round}` })).body
        },
        async () => (await there.get(`/user-live-configs/${String(profile?.data['id'])}`)).status === 200,
      ),
    )
    await here.request('DELETE', `/user-live-configs/${String(profile?.data['id'])}`)
  }
  for (const [subject, delays] of Object.entries(times)) t.log(summary(subject, delays))
  t.pass()
})

test.serial('a process forgets a cached key soon after another process has erased the key', async (t) => {
  t.timeout(20 * MINUTE)
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const [connection, masterKey] = [await connectMongo(double.url('stenolog')), randomBytes(32)]
  t.teardown(connection.close)
  const [here, there] = [await openMongoKeyring(connection, masterKey), await openMongoKeyring(connection, masterKey)]
  const { stop } = followErasures({
    memories: [there],
    erased: erasedLately(connection),
    needed: () => [],
    timers: systemTimers,
    monotonic: () => performance.now(),
    logger: createRecordingLogger(),
  })
  const times: Array<number> = []
  for (let round = 0; round < ROUNDS / 5; round += 1) {
    const sealed = sealedMembers(await right(here.seal(`user-${round}`, plainMembers(['Alice']))))
    t.deepEqual(await right(there.open(sealed)), [E.right('Alice')])
    times.push(
      await visibilityDelay(
        () => right(here.erase([`user-${round}`])),
        async () => (await right(there.open(sealed))).every(E.isLeft),
      ),
    )
  }
  await stop()
  t.log(summary('an erased key is forgotten', times))
})
