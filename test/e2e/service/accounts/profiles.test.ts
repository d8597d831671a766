import test from 'ava'
import type { Json } from '../../../support/service/client.ts'
import { PATH, removeProfile, type Profile, type Profiles } from '../../../support/service/profiles.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

interface Issues {
  readonly detail: ReadonlyArray<{ readonly loc: ReadonlyArray<string | number> }>
}

const DEFAULTS = {
  vad: true,
  mode: 'partial',
  min_buffer: 1,
  max_buffer: 10,
  buffer_timeout: 1,
  max_delay: 5,
  max_chars: 80,
  max_lines: 2,
  punctuation: true,
}
const OTHER_SETTINGS = {
  vad: false,
  mode: 'final',
  min_buffer: 0.1,
  max_buffer: 30,
  buffer_timeout: 2.5,
  max_delay: 60,
  max_chars: 1,
  max_lines: 100,
  punctuation: false,
}
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const NOT_FOUND = { detail: 'Profile not found' }

const service = sharedTestService()

const locations = (body: unknown) => (body as Issues).detail.map(({ loc }) => loc)

test('every new user, including the first admin, has one profile "Default" with the default settings', async (t) => {
  for (const client of [await service.user('new'), await service.admin()]) {
    const { status, body } = await client.get<Profiles>(PATH)
    t.is(status, 200)
    t.deepEqual(body.pagination, { total_items: 1, total_pages: 1, current_page: 1, per_page: 100 })
    const [profile] = body.data
    t.like(profile, { name: 'Default', ...DEFAULTS, updated_at: null })
    t.regex(profile?.created_at ?? '', DATE)
  }
})

test('a profile has exactly id, name, nine settings and two dates, and lists are ordered by id', async (t) => {
  const client = await service.user('lister')
  for (const name of ['Talk', 'Default', 'Ä 🎙']) t.is((await client.post(PATH, { name })).status, 200)
  const { data } = (await client.get<Profiles>(PATH)).body
  const members = ['id', 'name', ...Object.keys(DEFAULTS), 'created_at', 'updated_at']
  for (const profile of data) t.deepEqual(Object.keys(profile).toSorted(), members.toSorted())
  t.deepEqual(data.map(({ name }) => name), ['Default', 'Talk', 'Default', 'Ä 🎙'])
  t.deepEqual(data.map(({ id }) => id), data.map(({ id }) => id).toSorted((a, b) => a - b))
})

test('a new profile has the sent members and defaults for the others, and can be read at once', async (t) => {
  const client = await service.user('creator')
  const plain = await client.post<Profile>(PATH, { name: 'Plain' })
  t.is(plain.status, 200)
  t.deepEqual(Object.keys(plain.body), ['data'])
  t.like(plain.body.data, { name: 'Plain', ...DEFAULTS, updated_at: null })
  const full = await client.post<Profile>(PATH, { name: 'Full', ...OTHER_SETTINGS, id: 1, user_id: 1, unknown: 'x' })
  t.like(full.body.data, { name: 'Full', ...OTHER_SETTINGS })
  t.not(full.body.data.id, 1)
  t.false('unknown' in full.body.data, 'unknown members are ignored')
  t.like(
    (await client.post<Profile>(PATH, { name: 'Nulls', vad: null, max_chars: null })).body.data,
    DEFAULTS,
    'null means the default',
  )
  for (const { body } of [plain, full]) t.deepEqual((await client.get<Profile>(`${PATH}${body.data.id}`)).body, body)
  const { data } = (await client.get<Profiles>(PATH)).body
  t.deepEqual(data.slice(1, 3), [plain.body.data, full.body.data])
})

test('a profile with an invalid name or setting is not created', async (t) => {
  const client = await service.user('invalid profiles')
  const bad: ReadonlyArray<readonly [Json, string]> = [
    [{}, 'name'],
    [{ name: null }, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ name: 'a'.repeat(101) }, 'name'],
    [{ name: '\ud83c' }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'a\0' }, 'name'],
    [{ name: 'a', max_chars: 0 }, 'max_chars'],
    [{ name: 'a', mode: 'both' }, 'mode'],
    [{ name: 'a', vad: 'yes' }, 'vad'],
    [{ name: 'a', max_lines: 1.5 }, 'max_lines'],
    [{ name: 'a', min_buffer: '1' }, 'min_buffer'],
    [{ name: 'a', min_buffer: 11 }, 'min_buffer'],
    [{ name: 'a', max_buffer: 0.5 }, 'max_buffer'],
    [{ name: 'a', max_delay: 61 }, 'max_delay'],
  ]
  for (const [body, member] of bad) {
    const answer = await client.post(PATH, body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.deepEqual(locations(answer.body), [['body', member]], JSON.stringify(body))
  }
  for (const name of ['🎙'.repeat(100), 'a b']) t.is((await client.post(PATH, { name })).status, 200)
  t.is((await client.get<Profiles>(PATH)).body.pagination.total_items, 3)
})

test('a change affects only the sent members, and an empty change changes nothing', async (t) => {
  const client = await service.user('profile changer')
  const { data: created } = (await client.post<Profile>(PATH, { name: 'Talk' })).body
  const path = `${PATH}${created.id}`
  for (const emptyChange of [{}, { name: 'Talk' }, { vad: true, max_delay: 5 }, { unknown: 1 }]) {
    const answer = await client.put<Profile>(path, emptyChange)
    t.is(answer.status, 200)
    t.deepEqual(answer.body, { data: created })
  }
  let expected: Json = created
  for (const [member, value] of Object.entries({ ...OTHER_SETTINGS, name: 'Other' })) {
    const { status, body } = await client.put<Profile>(path, { [member]: value })
    t.is(status, 200, member)
    t.regex(body.data.updated_at ?? '', DATE)
    t.true((body.data.updated_at ?? '') >= created.created_at)
    expected = { ...expected, [member]: value, updated_at: body.data.updated_at }
    t.deepEqual(body.data, expected, member)
    t.deepEqual((await client.get<Profile>(path)).body.data, expected, `the next read shows ${member}`)
  }
  t.deepEqual((await client.get<Profiles>(PATH)).body.data[1], expected)
})

test('bounds apply to the changed profile as a whole, and null is refused', async (t) => {
  const client = await service.user('bounded')
  const { data: created } = (await client.post<Profile>(PATH, { name: 'Talk', min_buffer: 2, max_buffer: 8 })).body
  const path = `${PATH}${created.id}`
  const bad: ReadonlyArray<readonly [Json, string]> = [
    [{ min_buffer: 8.5 }, 'min_buffer'],
    [{ max_buffer: 1.5 }, 'max_buffer'],
    [{ min_buffer: 7, max_buffer: 6 }, 'min_buffer'],
    [{ min_buffer: 0.05 }, 'min_buffer'],
    [{ max_buffer: 31 }, 'max_buffer'],
    [{ max_chars: 1001 }, 'max_chars'],
    [{ max_lines: 0 }, 'max_lines'],
    [{ buffer_timeout: '1' }, 'buffer_timeout'],
    [{ punctuation: 1 }, 'punctuation'],
    [{ mode: 'none' }, 'mode'],
    [{ name: '' }, 'name'],
    ...['name', ...Object.keys(DEFAULTS)].map((member) => [{ [member]: null }, member] as const),
  ]
  for (const [body, member] of bad) {
    const answer = await client.put(path, body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.deepEqual(locations(answer.body), [['body', member]], JSON.stringify(body))
  }
  const huge = await client.request('PUT', path, {
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    body: '{"max_delay":1e999}',
  })
  t.is(huge.status, 422)
  t.deepEqual((await client.get<Profile>(path)).body.data, created, 'no refused change had an effect')
  t.is((await client.put(path, { min_buffer: 9, max_buffer: 9 })).status, 200)
})

test('unknown and foreign profiles are 404, invalid ids 422, missing credentials 401', async (t) => {
  const [owner, other] = [await service.user('owner of profiles'), await service.user('other than the owner')]
  const { data: created } = (await owner.post<Profile>(PATH, { name: 'Mine' })).body
  for (const id of [created.id, 0, -1, 2 ** 31 + 1, '9007199254740993', '9'.repeat(60)]) {
    const path = `${PATH}${id}`
    for (const answer of [
      await other.get(path), await other.put(path, { name: 'Theirs' }), await removeProfile(other, id),
    ]) {
      t.is(answer.status, 404, path)
      t.deepEqual(answer.body, NOT_FOUND)
    }
  }
  for (const id of ['abc', '1.5', '0x1', '%20'])
    for (const answer of [
      await other.get(`${PATH}${id}`),
      await other.put(`${PATH}${id}`, {}),
      await removeProfile(other, id),
    ]) {
      t.is(answer.status, 422, id)
      t.deepEqual(locations(answer.body), [['path', 'id']])
    }
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const answer = await service.anonymous().request(method, `${PATH}${created.id}`)
    t.is(answer.status, 401)
    t.deepEqual(answer.body, { detail: 'Not authenticated' })
  }
  t.deepEqual((await owner.get<Profile>(`${PATH}${created.id}`)).body.data, created)
})

test('profiles are listed in pages', async (t) => {
  const client = await service.user('turner of pages')
  for (let n = 0; n < 24; n++) t.is((await client.post(PATH, { name: `${n}` })).status, 200)
  const all = (await client.get<Profiles>(PATH)).body.data
  const seen = []
  for (const [page, skip] of [0, 10, 20].entries()) {
    const { body } = await client.get<Profiles>(`${PATH}?skip=${skip}&limit=10`)
    t.deepEqual(body.pagination, { total_items: 25, total_pages: 3, current_page: page + 1, per_page: 10 })
    seen.push(...body.data)
  }
  t.deepEqual(seen, all)
  t.deepEqual((await client.get<Profiles>(`${PATH}?skip=25`)).body.data, [])
  t.is((await client.get<Profiles>(`${PATH}?limit=5000`)).body.pagination.per_page, 1000)
  for (const query of ['limit=0', 'limit=-1', 'limit=abc', 'limit=', 'skip=-1', 'skip=1.5']) {
    const answer = await client.get(`${PATH}?${query}`)
    t.is(answer.status, 422, query)
    t.deepEqual(locations(answer.body), [['query', query.split('=')[0]]])
  }
})
