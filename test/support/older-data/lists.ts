import type { ExecutionContext } from 'ava'
import { createClient, logIn, type Client, type Json, type Listing } from '../service/client.ts'

/** The accounts of the data. They are fixed, because every version uses the same data. */
export const ADA = { username: 'ada', password: 'ada has a password' }
export const BOB = { username: 'bob', password: 'bob has a password' }
export const ROOT = { username: 'root', password: 'correct horse battery staple' }

/** Settings under which data does not change with time, and links do not contain a port. */
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

/** All lists of users and sessions, by user and path. */
export type Lists = Readonly<Record<string, ReadonlyArray<Json>>>

/** The file, next to the data of the older version, that contains its lists. */
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

/** The transcript of a session, or the status of the refusal. */
const transcriptOf = async (client: Client, id: number): Promise<Json> => {
  const { status, body } = await client.get(`/lives/${id}/transcript`)
  return { id, status, ...(status === 200 ? body : {}) }
}

/** Sessions whose histories and transcripts are read. The first sessions have text. */
const DETAILED_SESSIONS = 12

const listsOf = async (name: string, client: Client): Promise<Lists> => {
  const lives = await all(client, '/lives/')
  const ids = lives.map(({ id }) => Number(id)).toSorted((a, b) => a - b).slice(0, DETAILED_SESSIONS)
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

/** Reads all lists of a running service, as its administrator and as both users. */
export const readLists = async (url: string): Promise<Lists> => {
  const [root, ada, bob] = [
    await logIn(url, ROOT.username, ROOT.password),
    await logIn(url, ADA.username, ADA.password),
    await logIn(url, BOB.username, BOB.password),
  ]
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

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/**
 * Removes from `present` everything that a later version may add to `recorded`: new members, and the events
 * LiveTakenOver of its start. Works recursively.
 */
export const inRecordedShape = (recorded: unknown, present: unknown): unknown => {
  if (Array.isArray(recorded) && Array.isArray(present)) {
    const kept = present.filter((item) => !isTakenOver(item))
    return kept.map((item: unknown, index) => inRecordedShape(recorded[index], item))
  }
  if (!isObject(recorded) || !isObject(present)) return present
  const members = present as Readonly<Record<string, unknown>>
  const entries = Object.entries(recorded)
  return Object.fromEntries(entries.map(([name, value]) => [name, inRecordedShape(value, members[name])]))
}

/** Shortens each list in `present` to the length that it had in `recorded`. Works recursively. */
const withoutAdditions = (recorded: unknown, present: unknown): unknown => {
  if (Array.isArray(recorded) && Array.isArray(present))
    return present.slice(0, recorded.length).map((item: unknown, index) => withoutAdditions(recorded[index], item))
  if (!isObject(recorded) || !isObject(present)) return present
  const members = recorded as Json
  const entries = Object.entries(present)
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutAdditions(members[name], value)]))
}

/** Members that are measured, not stored. */
const MEASURED = ['lag']
/** Members of a session that a restart may change. */
const CHANGED = [...MEASURED, 'status', 'vram', 'auto_start_pid', 'updated_at']

const without = (item: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)))

/**
 * Checks that the lists after a restart equal the lists before it. Sessions with these ids may differ in the members
 * that a restart changes. Histories and transcripts may be longer.
 */
export const checkLists = (
  t: ExecutionContext, before: Lists, after: Lists, changed: ReadonlyArray<number>,
): void => {
  for (const [name, recorded] of Object.entries(before)) {
    const present = inRecordedShape(recorded, after[name]) as ReadonlyArray<Json>
    const comparable = (items: ReadonlyArray<Json>): ReadonlyArray<Json> =>
      items.map((item) => without(item, changed.includes(Number(item['id'])) ? CHANGED : MEASURED))
    if (/ (histories|transcripts)$/.test(name)) t.deepEqual(withoutAdditions(recorded, present), recorded, name)
    else if (/\/lives\/?$/.test(name)) t.deepEqual(comparable(present), comparable(recorded), name)
    else t.deepEqual(present, recorded, name)
  }
}
