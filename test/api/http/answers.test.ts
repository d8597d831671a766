import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import { presentLive } from '../../../interfaces/http/codecs/presenters.ts'
import { presentProfile } from '../../../interfaces/http/codecs/profile-codecs.ts'
import { catalogue, language, liveView, profileView, userView } from './example-views.ts'
import { startHttp } from './http-service.ts'

interface Listing {
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly pagination: Readonly<Record<string, number>>
}

const MEMBERS = [
  'id',
  'status',
  'live_retention',
  'audio_format',
  'audio_url',
  'auto_start',
  'auto_start_pid',
  'vram',
  'iframe_html',
  'sender_token',
  'listener_token',
  'base_url',
  'relative_path',
  'config',
  'model',
  'language',
  'translations',
  'created_at',
  'updated_at',
]
const AT = '2026-11-21T09:30:00.123456+00:00'

test('a session has exactly its 19 members in the documented order, nested objects included', (t) => {
  const live = presentLive(liveView(7), catalogue, { baseUrl: 'wss://host', pagesUrl: 'https://host', strict: false })
  t.deepEqual(Object.keys(live), MEMBERS)
  t.deepEqual(JSON.parse(JSON.stringify(live)), {
    id: 7,
    status: 'pending',
    live_retention: false,
    audio_format: 'raw',
    audio_url: null,
    auto_start: false,
    auto_start_pid: null,
    vram: 1400,
    iframe_html: null,
    sender_token: 'sender-secret',
    listener_token: 'listener-secret',
    base_url: 'wss://host',
    relative_path: '/ws/live/7',
    config: {
      vad: true,
      mode: 'partial',
      min_buffer: 1,
      max_buffer: 10,
      buffer_timeout: 1,
      max_delay: 5,
      max_chars: 80,
      max_lines: 2,
      punctuation: true,
    },
    model: { id: 1, name: 'tiny', active: true, vram: 1000, created_at: AT, updated_at: null },
    language: { id: 1, iso_639_1: 'en', name: 'English', active: true, created_at: AT, updated_at: null },
    translations: [
      {
        id: 3,
        model: 'mt-en-fr',
        active: true,
        vram: 400,
        lang_from: { id: 1, iso_639_1: 'en', name: 'English', active: true },
        lang_to: { id: 2, iso_639_1: 'fr', name: 'French', active: true },
        created_at: AT,
        updated_at: null,
      },
    ],
    created_at: AT,
    updated_at: null,
  })
})

test('answers contain the optional settings that were sent, except with COMPAT_STRICT', (t) => {
  const vocabulary = { hotwords: ['Babbage'] }
  const live = liveView(7, { config: { ...DEFAULT_ENGINE_SETTINGS, words: true, task: 'translate' }, vocabulary })
  const profile = { ...profileView(1, 'Lecture'), settings: live.config, vocabulary }
  const present = (strict: boolean) => {
    const origin = { baseUrl: '', pagesUrl: '', strict }
    return [presentLive(live, catalogue, origin).config, presentProfile(profile, origin)]
  }
  for (const answer of present(false)) t.like(answer, { words: true, task: 'translate', hotwords: ['Babbage'] })
  for (const answer of present(true))
    for (const member of ['words', 'task', 'prompt', 'hotwords']) t.false(member in answer, member)
  t.deepEqual(Object.keys(present(true)[0] ?? {}), Object.keys(DEFAULT_ENGINE_SETTINGS))
})

const DISPLAY = { background_color: '00000080', color_text: null, size_text: 40 }

test('display settings produce one escaped iframe with the listener token in its fragment', (t) => {
  const snippetOf = (members: Parameters<typeof liveView>[1], pagesUrl = 'https://host/steno') =>
    presentLive(liveView(7, members), catalogue, { baseUrl: '', pagesUrl, strict: false }).iframe_html
  t.is(snippetOf({}), null)
  const display = DISPLAY
  t.is(
    snippetOf({ display }),
    '<iframe src="https://host/steno/embed/live/7?background_color=00000080&amp;size_text=40#token=listener-secret" ' +
      'title="Live captions" width="100%" height="240" sandbox="allow-scripts" referrerpolicy="no-referrer" ' +
      'loading="lazy"></iframe>',
  )
  t.true(
    snippetOf({ display }, '')?.startsWith('<iframe src="/embed/live/7?'),
    'without a known host the link is relative to the embedding page',
  )
  const odd = snippetOf({ display, listenerToken: `a"b'<c>&d#e~._-` }) ?? ''
  t.true(odd.includes(`#token=a%22b&#39;%3Cc%3E%26d%23e~._-"`), odd)
  for (const status of ['active', 'finished', 'error'] as const)
    t.is(snippetOf({ display, status }), snippetOf({ display }))
  t.false(snippetOf({ display })?.includes('sender-secret'))
})

test('a session still shows a removed model and translation pair, marked as inactive', (t) => {
  const empty: Catalogue = {
    models: () => [],
    languages: catalogue.languages,
    furtherLanguages: () => [],
    translations: () => [],
  }
  const live = presentLive(liveView(7), empty, { baseUrl: '', pagesUrl: '', strict: false })
  t.deepEqual([live.model.id, live.model.name, live.model.vram, live.model.active], [1, 'tiny', 1000, false])
  t.deepEqual(
    live.translations.map(({ id, model, active, lang_to }) => [id, model, active, lang_to.iso_639_1]),
    [[3, 'mt-en-fr', false, 'fr']],
  )
})

test('skip defaults to 0 and limit to 100; a limit over 1000 becomes 1000', async (t) => {
  const http = await startHttp(t)
  const cases = [
    ['', 0, 100], ['?limit=1', 0, 1], ['?limit=1000&skip=2147483647', 2147483647, 1000], ['?limit=1001', 0, 1000],
    ['?limit=99999999999999999999', 0, 1000], ['?limit=5&limit=7', 0, 7],
  ] as const
  for (const [query, skip, limit] of cases) {
    const response = await http.send('GET', `/lives${query}`, { as: 'user' })
    const { pagination } = (await response.json()) as Listing
    t.is(pagination['per_page'], limit, query)
    t.deepEqual(http.calls.pages.at(-1), { skip, limit })
  }
})

test('pages of languages add up to the whole list, and totals respect filters', async (t) => {
  const many = Array.from({ length: 250 }, (_, index) => language(index + 1, `x${index}`, `Language ${index}`))
  const http = await startHttp(t, {}, { catalogue: { ...catalogue, languages: () => many } })
  const page = async (query: string): Promise<Listing> =>
    (await (await http.send('GET', `/languages/${query}`)).json()) as Listing
  const pages = await Promise.all([0, 100, 200].map((skip) => page(`?skip=${skip}`)))
  t.deepEqual(pages.flatMap(({ data }) => data.map(({ id }) => id)), many.map(({ id }) => id))
  t.deepEqual(
    pages.map(({ pagination }) => pagination),
    [1, 2, 3].map((current) => ({ total_items: 250, total_pages: 3, current_page: current, per_page: 100 })),
  )
  t.deepEqual(await page('?skip=1000'), {
    data: [],
    pagination: { total_items: 250, total_pages: 3, current_page: 11, per_page: 100 },
  })
  t.deepEqual(await page('?name=none'), {
    data: [],
    pagination: { total_items: 0, total_pages: 0, current_page: 1, per_page: 100 },
  })
  t.deepEqual((await page('?name=Language%207')).pagination, {
    total_items: 1,
    total_pages: 1,
    current_page: 1,
    per_page: 100,
  })
})

test('the list of users contains no secret', async (t) => {
  const http = await startHttp(t, {
    listUsers: async () => E.right({ items: [{ ...userView(1, 'root'), permissions: ['admin'] }], total: 1 }),
  })
  const { data } = (await (await http.send('GET', '/users', { as: 'admin' })).json()) as Listing
  t.deepEqual(data, [
    {
      id: 1,
      username: 'root',
      permissions: ['admin'],
      max_sessions: 10,
      max_translations: 5,
      is_active: true,
      created_at: AT,
      updated_at: null,
    },
  ])
})

test('/health/live always answers ok; /health/ready answers 503 with the failed checks', async (t) => {
  const http = await startHttp(t, {}, { readiness: () => ({ ready: false, checks: { projections: 'behind' } }) })
  t.deepEqual(await (await http.send('GET', '/health/live')).json(), { status: 'ok' })
  const response = await http.send('GET', '/health/ready')
  t.deepEqual(
    [response.status, await response.json()],
    [503, { status: 'unavailable', detail: 'Service is not ready', checks: { projections: 'behind' } }],
  )
  const ready = await startHttp(t)
  t.deepEqual(await (await ready.send('GET', '/health/ready')).json(), { status: 'ok', checks: { eventStore: 'ok' } })
})
