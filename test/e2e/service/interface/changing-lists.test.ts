import test from 'ava'
import type { Client, Json, Listing } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()
const PER_PAGE = 3

type Between = (page: number) => unknown

/** Walks the sessions of a user by `skip`, and calls `between` after each page. Returns the ids in the order shown. */
const walk = async (client: Client, filter: string, between: Between): Promise<ReadonlyArray<number>> => {
  const shown: Array<number> = []
  for (let page = 0; ; page += 1) {
    const address = `/lives/?${filter}limit=${PER_PAGE}&skip=${page * PER_PAGE}`
    const { data, pagination } = (await client.get<Listing<Json>>(address)).body
    if (data.length === 0) return shown
    const ids = data.map(({ id }) => Number(id))
    if (ids.some((id, at) => id >= (ids[at - 1] ?? Infinity))) throw new Error(`the page ${String(ids)} is not sorted`)
    if (pagination.total_items < page * PER_PAGE + ids.length) throw new Error('a page has more rows than the total')
    shown.push(...ids)
    await between(page)
  }
}

const createLives = async (client: Client, count: number): Promise<ReadonlyArray<number>> => {
  const ids: Array<number> = []
  for (let n = 0; n < count; n += 1) ids.push((await client.createLive()).id)
  return ids.toReversed()
}

const missedIn = (ids: ReadonlyArray<number>, shown: ReadonlyArray<number>): ReadonlyArray<number> =>
  ids.filter((id) => !shown.includes(id))

test('a walk misses no session while others are created and finished, but may repeat some', async (t) => {
  const client = await service.user('page-walker', { max_sessions: 100 })
  const ids = await createLives(client, 8)
  t.deepEqual(await walk(client, '', () => undefined), ids)
  const finished = await walk(client, '', (page) => client.put(`/lives/${ids[page]}/finish`))
  t.deepEqual(finished, ids, 'a session keeps its place when its status changes')
  const created = await walk(client, '', (page) => (page < 2 ? client.createLive() : undefined))
  t.deepEqual(missedIn(ids, created), [])
  t.deepEqual([...new Set(created)], ids, 'each page starts with the repeated rows')
  t.is(created.length, ids.length + 2)
})

test('a walk misses at most one session for each one that leaves the list, and the next walk shows all', async (t) => {
  const client = await service.user('page-remover', { max_sessions: 100 })
  const ids = await createLives(client, 9)
  const [first = 0, second = 0] = ids
  const remove = async (id: number): Promise<void> => {
    await client.put(`/lives/${id}/finish`)
    t.is((await client.request('DELETE', `/lives/${id}`)).status, 200)
  }
  const shown = await walk(client, '', (page) => (page === 0 ? remove(first) : undefined))
  t.deepEqual(missedIn(ids, shown), [ids[PER_PAGE]], 'the row that moved to the page before')
  t.is(new Set(shown).size, shown.length)
  const left = ids.slice(1)
  t.deepEqual(await walk(client, '', () => undefined), left)
  const filtered = await walk(client, 'status=pending&', (page) =>
    (page === 0 ? client.put(`/lives/${second}/finish`) : undefined))
  t.is(missedIn(left, filtered).length, 1)
  t.deepEqual(await walk(client, 'status=pending&', () => undefined), left.slice(1))
})
