import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../support/service/client.ts'
import { runTestService } from '../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

const ROUNDS = 250
const WRITERS = 4

interface Row extends Json {
  readonly id: number
}

const first = async (client: Client, path: string): Promise<Row | undefined> =>
  (await client.get<Listing<Row>>(path)).body.data[0]

/** Runs writes, each followed at once by a read that must show it. */
const round = async (
  t: { is: (a: unknown, b: unknown, why: string) => void },
  client: Client,
  n: number,
): Promise<void> => {
  const live: LiveJson = await client.createLive()
  t.is((await first(client, '/lives/?limit=1'))?.id, live.id, `round ${n}: created, then listed`)
  await client.put(`/lives/${live.id}/finish`)
  t.is(
    (await first(client, '/lives/?status=finished&limit=1'))?.id,
    live.id,
    `round ${n}: finished, then in the filtered list`,
  )
  const profile = (await client.post<Single<Row>>('/user-live-configs/', { name: `made in ${n}` })).body.data
  await client.put(`/user-live-configs/${profile.id}`, { name: `changed in ${n}` })
  t.is(
    (await client.get<Single<Json>>(`/user-live-configs/${profile.id}`)).body.data['name'],
    `changed in ${n}`,
    `round ${n}: changed, then read`,
  )
  await client.request('DELETE', `/user-live-configs/${profile.id}`)
  t.is((await client.get(`/user-live-configs/${profile.id}`)).status, 404, `round ${n}: deleted, then not found`)
  await client.request('DELETE', `/lives/${live.id}`)
  t.is((await client.get(`/lives/${live.id}`)).status, 404, `round ${n}: deleted, then not found`)
}

test('in all 1000 rounds of four writers over HTTP a read shows the write before it', async (t) => {
  t.timeout(1_800_000)
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const client = await service.user(`writer ${writer}`)
      for (let n = 0; n < ROUNDS; n += 1) await round(t, client, n)
    }),
  )
  t.regex((await service.anonymous().get<string>('/metrics')).body, /^stenolog_read_your_writes_timeouts_total 0$/m)
})
