/** What a client sees of new sessions while nobody updates the lists, and when an audience connects at once. */
import assert from 'node:assert/strict'
import test from 'ava'
import { issueToken, withKey } from '../../support/service/api-tokens.ts'
import { createClient, handshake, logIn, type Listing, type LiveJson } from '../../support/service/client.ts'
import { ADMIN, passwordOf } from '../../support/service/service.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { eventually } from '../../support/tools/eventually.ts'

const AUDIENCE = 800
const MINUTE = 60_000

const statusAt = async (url: string, path: string, token: string): Promise<number> =>
  (await handshake(`${url.replace('http', 'ws')}/ws/live${path}?token=${token}`)).status

test.serial('after the only projector died, what one process creates works at once at another one', async (t) => {
  t.timeout(10 * MINUTE)
  const cluster = await startCluster(t)
  const [lists, here, there] = await Promise.all([
    cluster.add('lists', 'projector'), cluster.add('api-1', 'api'), cluster.add('api-2', 'api'),
    cluster.add('worker', 'worker'),
  ])
  const speaker = await speakerAt(here.url())
  const elsewhere = createClient(there.url(), speaker.token)
  const old = await speaker.createLive()
  await lists.kill()
  for (let round = 0; round < 3; round += 1) {
    const live = await speaker.createLive({ listener_token: `hall-${round}-of-the-house` })
    t.is((await elsewhere.get(`/lives/${live.id}`)).status, 200)
    for (const path of [`/${live.id}`, '']) {
      t.is(await statusAt(there.url(), path, live.listener_token), 101, `listener at ${path}`)
      t.is(await statusAt(there.url(), path, live.sender_token), 101, `sender at ${path}`)
      t.is(await statusAt(there.url(), path, 'x'.repeat(32)), 401, `wrong token at ${path}`)
    }
    t.is(await statusAt(there.url(), `/${old.id}`, live.sender_token), 401, 'a token of another session')
  }
  t.is((await elsewhere.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items, 1, 'the lists have stopped')

  const { token } = await issueToken(speaker)
  t.is((await withKey(there.url(), token, '/lives/')).status, 200, 'a new API token')
  const admin = await logIn(here.url(), ADMIN.username, ADMIN.password)
  const user = { username: 'fresh', password: passwordOf('fresh') }
  t.is((await admin.post('/users/', user)).status, 200)
  const fresh = await logIn(there.url(), user.username, user.password)
  t.is((await createClient(here.url(), fresh.token).get('/users/me')).status, 200, 'a new user and a new login')

  await lists.start()
  await eventually(async () => {
    assert.equal((await elsewhere.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items, 4)
  })
})

test.serial(`${AUDIENCE} listeners connect to one process in a second, and the lists go on`, async (t) => {
  t.timeout(10 * MINUTE)
  const { apis: [api] } = await startSplitCluster(t)
  const speaker = await speakerAt(api.url())
  const live = await speaker.createLive()
  const begun = performance.now()
  const audience = Array.from({ length: AUDIENCE }, () => statusAt(api.url(), `/${live.id}`, live.listener_token))
  const next = await speaker.createLive()
  const { data } = (await speaker.get<Listing<LiveJson>>('/lives/')).body
  t.deepEqual(data.map(({ id }) => id), [next.id, live.id])
  const statuses = Map.groupBy(await Promise.all(audience), (status) => status)
  t.log(`all answered after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  t.deepEqual([...statuses].map(([status, { length }]) => [status, length]), [[101, AUDIENCE]])
})
