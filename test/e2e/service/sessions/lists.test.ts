import test from 'ava'
import {
  createClient, logIn, type Client, type Listing, type LiveJson, type Single,
} from '../../../support/service/client.ts'
import { passwordOf } from '../../../support/service/service.ts'
import { restartedTestService } from '../../../support/service/shared-service.ts'

/**
 * Creates and ends a session `rounds` times and reads after each write. Returns the number of rounds in which each read
 * showed the write.
 */
const countConsistentRounds = async (client: Client, rounds: number): Promise<number> => {
  const listed = async (query: string): Promise<Listing<LiveJson>> =>
    (await client.get<Listing<LiveJson>>(`/lives/${query}`)).body
  const first = async (query: string): Promise<number | undefined> => (await listed(query)).data[0]?.id
  let seen = 0
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await client.createLive()
    const created = [await first('?limit=1'), await first('?status=pending')]
    await client.put(`/lives/${id}/finish`)
    const { status } = (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data
    const ended = await first('?status=finished&limit=1')
    const { pagination } = await listed('?status=pending')
    const areListed = [...created, ended].every((shown) => shown === id)
    if (areListed && status === 'finished' && pagination.total_items === 0) seen += 1
  }
  return seen
}

const service = restartedTestService()

const OPEN = ['pending', 'active']

const list = async (client: Client, query: string): Promise<Listing<LiveJson>> => {
  const { status, body } = await client.get<Listing<LiveJson>>(`/lives/${query}`)
  if (status !== 200) throw new Error(`${query} answered ${status}`)
  return body
}

const ids = async (client: Client, query: string): Promise<ReadonlyArray<number>> =>
  (await list(client, query)).data.map(({ id }) => id)

/** Returns the reserved memory in megabytes. */
const reserved = async (client: Client): Promise<number> =>
  Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec((await client.get<string>('/metrics')).body)?.[1])

test.serial('every read returns the write before it, in 12 of 12 rounds', async (t) => {
  t.is(await countConsistentRounds(await service.user('impatient'), 12), 12)
})

test.serial('250 sessions fill three pages in a stable order that survives a restart', async (t) => {
  const client = await service.user('prolific', { max_sessions: 1000 })
  const stranger = await service.user('stranger')
  const base = await reserved(client)
  const created: Array<number> = []
  for (let batch = 0; batch < 25; batch += 1) {
    const lives = await Promise.all(Array.from({ length: 10 }, () => client.createLive()))
    created.push(...lives.map(({ id }) => id))
    if (batch % 5 === 0) created.push((await stranger.createLive()).id)
  }
  t.is(new Set(created).size, created.length)
  const pages = [await list(client, ''), await list(client, '?skip=100'), await list(client, '?skip=200&limit=100')]
  const page = (current_page: number) => ({ total_items: 250, total_pages: 3, current_page, per_page: 100 })
  t.deepEqual(pages.map(({ pagination }) => pagination), [page(1), page(2), page(3)])
  const union = pages.flatMap(({ data }) => data.map(({ id }) => id))
  t.is(new Set(union).size, 250)
  t.deepEqual(union, union.toSorted((a, b) => b - a))
  t.deepEqual(await list(client, '?skip=250'), { data: [], pagination: page(3) })
  t.deepEqual(await ids(client, '?limit=7&skip=13'), union.slice(13, 20))

  for (const id of union.slice(0, 40)) await client.put(`/lives/${id}/finish`)
  t.deepEqual(await ids(client, '?limit=1000'), union, 'finishing sessions does not change the order')
  t.is((await list(client, '?status=finished&limit=1')).pagination.total_items, 40)

  const before = (await list(client, '?limit=1000')).data
  await service.kill('SIGKILL')
  await service.start()
  const relogged = await logIn(service.url(), 'prolific', passwordOf('prolific'))
  const after = (await list(relogged, '?limit=1000')).data
  // The restarted service has another port.
  const base_url = service.url().replace('http', 'ws')
  t.deepEqual(after, before.map((live) => ({ ...live, base_url })), 'every member survives the restart, tokens too')
  const others = await list(await logIn(service.url(), 'stranger', passwordOf('stranger')), '')
  t.is(others.data.length, 5)
  const openVram = [...after, ...others.data]
    .filter(({ status }) => OPEN.includes(status))
    .reduce((sum, { vram }) => sum + vram, 0)
  t.is(await reserved(relogged), base + openVram, 'the open sessions still reserve their memory after the restart')
  t.true((await relogged.createLive()).id > Math.max(...created), 'the restarted service does not reuse an id')
  t.is((await createClient(service.url(), client.token).get('/lives/')).status, 200, 'a login survives the restart')
})

test.serial(
  'the reserved memory always equals the memory of the open sessions, also after random actions',
  async (t) => {
    const client = await service.user('random', { max_sessions: 100 })
    const base = await reserved(client)
    const url = 'https://example.com/random.m3u8'
    let seed = 20261121
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below
    for (let step = 0; step < 60; step += 1) {
      const open = (await list(client, '?status=pending&status=active')).data
      const chosen = open[random(Math.max(1, open.length))]
      const action = random(5)
      if (action < 2 || chosen === undefined)
        await client.createLive(random(2) === 0 ? {} : { audio_format: 'hls', audio_url: url })
      else if (action === 2) await client.put(`/lives/${chosen.id}/finish`)
      else if (action === 3) await client.put('/lives/finish-by-audio_url', { audio_url: url })
      else
        await Promise.all([
          client.createLive(),
          client.put(`/lives/${chosen.id}/finish`),
          client.put(`/lives/${chosen.id}/finish`),
        ])
      const { data } = await list(client, '?limit=1000')
      const openVram = data.filter(({ status }) => OPEN.includes(status)).reduce((sum, { vram }) => sum + vram, 0)
      t.is((await reserved(client)) - base, openVram)
      t.true(data.every(({ status, vram }) => (OPEN.includes(status) ? vram > 0 : status === 'finished' && vram === 0)))
    }
  },
)
