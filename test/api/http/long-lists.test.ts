import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { createRequestLimits } from '../../../interfaces/http/clients/request-limits.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { liveView, profileView } from './example-views.ts'
import { startHttp } from './http-service.ts'

const display = { background_color: '00000080', color_text: '00000080', size_text: 40 }

/** The longest texts that a user can choose, in characters with four bytes. */
const WORDS = { prompt: '🎙'.repeat(1000), hotwords: Array.from({ length: 100 }, () => '🎙'.repeat(100)) }

test('a row of a list has at most 4 kB beside its URL and translations, for owners and administrators', async (t) => {
  const live = liveView(7, {
    audioUrl: null, translations: [], vocabulary: WORDS, display, listenerToken: 'x'.repeat(128),
    config: { ...DEFAULT_ENGINE_SETTINGS, words: true, task: 'translate' },
  })
  const rows = { items: [live], total: 1 }
  const http = await startHttp(t, {
    listLives: async () => E.right(rows),
    finishLivesByAudioUrl: async () => E.right(rows),
    listAllLives: async () => E.right({ items: [{ ...live, username: '🎙'.repeat(100), lag: 0.25 }], total: 1 }),
    listProfiles: async () =>
      E.right({ items: [{ ...profileView(1, '🎙'.repeat(100)), vocabulary: WORDS }], total: 1 }),
  })
  const lists = [
    await http.send('GET', '/lives', { as: 'user' }),
    await http.send('PUT', '/lives/finish-by-audio_url', { as: 'user', body: { audio_url: 'http://host/a' } }),
    await http.send('GET', '/admin/lives', { as: 'admin' }),
    await http.send('GET', '/user-live-configs', { as: 'user' }),
  ]
  for (const answer of lists) {
    t.is(answer.status, 200)
    const text = await answer.text()
    t.true(text.includes('"max_chars"') && Buffer.byteLength(text) < 4096, `${answer.url}: ${text.length}`)
  }
})

test('a long list is the same JSON as a short one', async (t) => {
  const items = Array.from({ length: 1000 }, (_, n) => liveView(1000 - n))
  const http = await startHttp(t, {
    listLives: async (_user, _statuses, { skip, limit }) =>
      E.right({ items: items.slice(skip, skip + limit), total: 1000 }),
  })
  const pageOf = async (query: string) => {
    const answer = await http.send('GET', `/lives?${query}`, { as: 'user' })
    t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    t.truthy(answer.headers.get('link'))
    return (await answer.json()) as { readonly data: ReadonlyArray<unknown>; readonly pagination: object }
  }
  const long = await pageOf('limit=1000')
  t.deepEqual(long.pagination, { total_items: 1000, total_pages: 1, current_page: 1, per_page: 1000 })
  const short = await Promise.all(Array.from({ length: 10 }, (_, n) => pageOf(`skip=${n * 100}&limit=100`)))
  t.deepEqual(long.data, short.flatMap(({ data }) => data))
})

test('many lists of one user at once are read one after another, and another user waits for one of them', async (t) => {
  const item = liveView(1)
  const read: Array<number> = []
  let [running, most] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const http = await startHttp(t, {
    listLives: async (userId) => {
      read.push(userId)
      running += 1
      most = Math.max(most, running)
      await gate.promise
      running -= 1
      return E.right({ items: [item], total: 1 })
    },
  })
  const burst = Array.from({ length: 100 }, () => http.send('GET', '/lives?limit=1000', { as: 'user' }))
  await eventually(() => assert.equal(read.length, 1))
  const other = http.send('GET', '/lives', { as: 'admin' })
  await eventually(() => assert.equal(new Set(read).size, 2))
  gate.resolve()
  t.is((await other).status, 200)
  t.deepEqual(new Set((await Promise.all(burst)).map(({ status }) => status)), new Set([200]))
  t.is(most, 2)
})

test('a list that had to wait is refused when the lists before it have used up the limit of the user', async (t) => {
  const items = Array.from({ length: 1000 }, (_, n) => liveView(n + 1))
  const { monotonic } = createManualTimers()
  let reads = 0
  const http = await startHttp(t, {
    listLives: async () => {
      reads += 1
      return E.right({ items, total: 1000 })
    },
  }, { limits: createRequestLimits({ monotonic }, 20) })
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => http.send('GET', '/lives?limit=1000', { as: 'user' })),
  )
  const passed = answers.filter(({ status }) => status === 200).length
  t.is(passed, reads)
  t.true(passed >= 30 && passed < 40, `${passed} of 40: 400 units are 36 lists of 11`)
  t.true(answers.every(({ status }) => status === 200 || status === 429))
})
