import type { ExecutionContext } from 'ava'
import { createClient, logIn } from '../service/client.ts'
import type { Client, Json, Listing } from '../service/client.ts'

/** Who made the data, and what they asked for: fixed, so that every version can be asked the same. */
export const ADA = { username: 'ada', password: 'ada has a password' }
export const BOB = { username: 'bob', password: 'bob has a password' }
export const ROOT = { username: 'root', password: 'correct horse battery staple' }

/** Settings under which nothing changes by itself as time goes by, and links do not name a port. */
export const TIMELESS_SETTINGS = {
  STENOLOG_HOST: '127.0.0.1',
  STENOLOG_PORT: '0',
  STENOLOG_PUBLIC_URL: 'http://stenolog.test',
  STENOLOG_RATE_LIMIT: '0',
  STENOLOG_DRAIN_TIMEOUT: '0s',
  STENOLOG_PENDING_TIMEOUT: '0',
  STENOLOG_MAX_DURATION: '0',
  STENOLOG_VRAM_MB: '100000000',
}

/** Everything that a service tells of its users and sessions, by the path that was asked. */
export type Lists = Readonly<Record<string, ReadonlyArray<Json>>>

/** File in which the lists that the older version told lie beside its data. */
export const LISTS = 'lists.json'

const PAGE = 200

const all = async (client: Client, path: string): Promise<ReadonlyArray<Json>> => {
  const items: Array<Json> = []
  for (;;) {
    const { status, body } = await client.get<Listing<Json>>(`${path}?limit=${PAGE}&skip=${items.length}`)
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
    items.push(...body.data)
    if (body.data.length === 0 || items.length >= body.pagination.total_items) return items
  }
}

/** The text of a session as it can be read now, or the status that refuses it. */
const transcriptOf = async (client: Client, id: number): Promise<Json> => {
  const { status, body } = await client.get(`/lives/${id}/transcript`)
  return { id, status, ...(status === 200 ? body : {}) }
}

/** Sessions at either end of a list: the first ones were spoken. */
const LOOKED_INTO = 12

const listsOf = async (name: string, client: Client): Promise<Lists> => {
  const lives = await all(client, '/lives/')
  const ids = lives.map(({ id }) => Number(id)).toSorted((a, b) => a - b).slice(0, LOOKED_INTO)
  const histories = ids.map(async (id) => ({ id, events: await all(client, `/lives/${id}/history`) }))
  return {
    [`${name} /lives/`]: lives,
    [`${name} /user-live-configs/`]: await all(client, '/user-live-configs/'),
    [`${name} /tokens/`]: await all(client, '/tokens/'),
    [`${name} /users/me`]: [(await client.get('/users/me')).body],
    [`${name} transcripts`]: await Promise.all(ids.map((id) => transcriptOf(client, id))),
    [`${name} histories`]: await Promise.all(histories),
  }
}

/** Asks a running service for everything, as its administrator and as both users. */
export const readLists = async (url: string): Promise<Lists> => {
  const [root, ada, bob] = await Promise.all([ROOT, ADA, BOB].map((one) => logIn(url, one.username, one.password)))
  if (root === undefined || ada === undefined || bob === undefined) throw new Error('unreachable')
  return {
    'root /users/': await all(root, '/users/'),
    'root /admin/lives': await all(root, '/admin/lives'),
    'anonymous /languages/': await all(createClient(url), '/languages/'),
    ...(await listsOf('ada', ada)),
    ...(await listsOf('bob', bob)),
  }
}

const isTakenOver = (item: unknown): boolean =>
  typeof item === 'object' && item !== null && 'type' in item && item.type === 'LiveTakenOver'

/**
 * What a later version may add to an object of an older list, and its take-overs at start, are left out, all the way
 * down.
 */
export const inRecordedShape = (recorded: unknown, told: unknown): unknown => {
  if (Array.isArray(recorded) && Array.isArray(told))
    return told
      .filter((item) => !isTakenOver(item))
      .map((item: unknown, index) => inRecordedShape(recorded[index], item))
  if (typeof recorded !== 'object' || recorded === null || typeof told !== 'object' || told === null) return told
  const members = told as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(recorded).map(([name, value]) => [name, inRecordedShape(value, members[name])]),
  )
}

/** As much of each list as there was before, all the way down. */
const upTo = (before: unknown, told: unknown): unknown => {
  if (Array.isArray(before) && Array.isArray(told))
    return told.slice(0, before.length).map((item: unknown, index) => upTo(before[index], item))
  if (typeof before !== 'object' || before === null || typeof told !== 'object' || told === null) return told
  const was = before as Json
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [name, upTo(was[name], value)]))
}

/** Of what runs, and of no event. */
const MEASURED = ['lag']
/** What a restart may change of a session. */
const CHANGED = [...MEASURED, 'status', 'vram', 'auto_start_pid', 'updated_at']

const without = (item: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)))

/**
 * What was told before a restart is told again, but for what that changes of the sessions of these ids. Histories and
 * transcripts may go on.
 */
export const listsAreEqual = (
  t: ExecutionContext, before: Lists, now: Lists, changed: ReadonlyArray<number>,
): void => {
  for (const [name, recorded] of Object.entries(before)) {
    const told = inRecordedShape(recorded, now[name]) as ReadonlyArray<Json>
    const settled = (items: ReadonlyArray<Json>): ReadonlyArray<Json> =>
      items.map((item) => without(item, changed.includes(Number(item['id'])) ? CHANGED : MEASURED))
    if (/ (histories|transcripts)$/.test(name)) t.deepEqual(upTo(recorded, told), recorded, name)
    else if (/\/lives\/?$/.test(name)) t.deepEqual(settled(told), settled(recorded), name)
    else t.deepEqual(told, recorded, name)
  }
}
