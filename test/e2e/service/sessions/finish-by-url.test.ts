import test from 'ava'
import type { Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const PATH = '/lives/finish-by-audio_url'
const hls = (audio_url: string): Json => ({ audio_format: 'hls', audio_url })

test.serial('every open session with the URL is finished and returned, and its sockets close', async (t) => {
  const client = await service.user('finisher')
  const url = 'https://user:p%40ss@example.com/live.m3u8?key=1'
  const lives = [
    await client.createLive(hls(url)),
    await client.createLive(hls(url)),
    await client.createLive(hls(url)),
  ]
  const [newest, second, ended] = lives.toReversed()
  const untouched = [await client.createLive(hls('https://example.com/other.m3u8')), await client.createLive()]
  if (newest === undefined || second === undefined || ended === undefined) throw new Error('a session is missing')
  await client.put(`/lives/${ended.id}/finish`)
  const sockets = [await client.socket(second, 'listener'), await client.socket(second, 'sender')]

  const { status, body } = await client.put<Listing<LiveJson>>(PATH, { audio_url: url })
  t.is(status, 200)
  t.deepEqual(body.pagination, { total_items: 2, total_pages: 1, current_page: 1, per_page: 100 })
  t.deepEqual(body.data.map(({ id, status: state, vram }) => ({ id, state, vram })), [
    { id: newest.id, state: 'finished', vram: 0 },
    { id: second.id, state: 'finished', vram: 0 },
  ])
  for (const live of body.data) {
    t.is(Object.keys(live).length, 19)
    t.is(live['audio_url'], url)
    t.regex(String(live['updated_at']), /^\d{4}-/)
    t.deepEqual((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data, live)
  }
  for (const socket of sockets) {
    t.deepEqual(await socket.closed, { code: 1000, reason: '' })
    t.is(socket.texts.at(-1), '{"status":"finished"}')
  }
  for (const { id } of untouched)
    t.is((await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data.status, 'pending')

  const repeated = await client.put<Listing<LiveJson>>(PATH, { audio_url: url })
  t.is(repeated.status, 200)
  t.deepEqual(repeated.body, {
    data: [],
    pagination: { total_items: 0, total_pages: 0, current_page: 1, per_page: 100 },
  })
})

test.serial('paging limits the answer, not the sessions that are finished', async (t) => {
  const client = await service.user('paging')
  const url = 'rtmp://example.com/many'
  for (let n = 0; n < 5; n += 1) await client.createLive({ audio_format: 'rtmp', audio_url: url })
  const { body } = await client.put<Listing<LiveJson>>(`${PATH}/?limit=2&skip=2`, { audio_url: url })
  t.deepEqual(body.pagination, { total_items: 5, total_pages: 3, current_page: 2, per_page: 2 })
  t.is(body.data.length, 2)
  t.is((await client.get<Listing<LiveJson>>('/lives/?status=pending')).body.pagination.total_items, 0)
  t.is((await client.put(`${PATH}?limit=0`, { audio_url: url })).status, 422)
})

test.serial('URLs are compared byte for byte', async (t) => {
  const client = await service.user('exact')
  const { id } = await client.createLive(hls('http://h.example/a'))
  const others = [
    'http://h.example/a/',
    'http://H.example/a',
    'http://h.example/a?',
    'http://h.example:80/a',
    ' http://h.example/a',
    '',
  ]
  for (const other of others)
    t.deepEqual((await client.put<Listing<LiveJson>>(PATH, { audio_url: other })).body.data, [], other)
  t.is((await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data.status, 'pending')
})

test.serial('a URL that is missing, null or not a string is 422; without a token it is 401', async (t) => {
  const client = await service.user('sloppy')
  for (const [body, type] of [
    [{}, 'missing'],
    [{ audio_url: null }, 'string_type'],
    [{ audio_url: 7 }, 'string_type'],
    [{ audio_url: ['http://h/a'] }, 'string_type'],
    [{ audio_url: { $ne: 1 } }, 'string_type'],
  ] as const) {
    const { status, body: answer } = await client.put(PATH, body)
    t.is(status, 422)
    t.deepEqual(
      (answer['detail'] as ReadonlyArray<Json>).map((issue) => [issue['type'], issue['loc']]),
      [[type, ['body', 'audio_url']]],
    )
  }
  t.is((await service.anonymous().put(PATH, { audio_url: 'http://h/a' })).status, 401)
})
