import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { Issue } from '../../../interfaces/http/codecs/issues.ts'
import { liveView } from './example-views.ts'
import { startHttp } from './http-service.ts'

interface Errors { readonly detail: ReadonlyArray<Issue> }

const MINIMAL = { model: 'tiny', language: 'en' }

const hostile = fc.oneof(
  fc.json(),
  fc.json().map((text) => {
    const names = ['model', 'language', 'config', 'audio_url', 'audio_format', 'token', 'username']
    return `{${names.map((name) => `"${name}":${text}`).join(',')}}`
  }),
  fc.string({ unit: 'binary', maxLength: 200 }),
)

test('hostile bodies never cause a 5xx, and no answer repeats the submitted values', async (t) => {
  const http = await startHttp(t)
  const secret = 'hunter2-secret'
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom('/lives', '/users', '/setup', '/login'), async (body, path) => {
      const sent = path === '/login' ? new URLSearchParams({ [secret]: body, username: body }) : body
      const response = await http.send('POST', path, { as: 'admin', body: sent })
      return response.status < 500 && !(await response.text()).includes(secret)
    }),
    { numRuns: 300 },
  )
  const bodiesWithSecret = [
    { model: [secret] },
    { config: { [secret]: 1, mode: secret } },
    { audio_format: secret },
    { listener_token: `${secret} ` },
    { audio_format: 'hls', audio_url: secret },
    { background_color: secret },
    { translations: secret },
  ]
  for (const members of bodiesWithSecret) {
    const response = await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, ...members } })
    t.is(response.status, 422)
    t.false((await response.text()).includes(secret), JSON.stringify(members))
  }
  t.false(JSON.stringify(http.log.lines).includes(secret))
})

test('each application error becomes its status, text and headers', async (t) => {
  const refusals = [
    [{ _tag: 'ModelNotFound' }, 404, 'Model not found', null],
    [{ _tag: 'LanguageNotFound' }, 404, 'Language not found', null],
    [
      { _tag: 'LanguageNotSupported', model: 'demo-en', language: 'fr' },
      404,
      'Language not supported by model: demo-en, fr',
      null,
    ],
    [{ _tag: 'TranslationNotFound', from: 'en', to: 'xx' }, 404, 'Translation not found: en->xx', null],
    [{ _tag: 'QuotaReached', maximum: 10 }, 403, 'Maximum number of sessions reached (10)', null],
    [{ _tag: 'TooManyTranslations', maximum: 5 }, 403, 'Maximum number of translations exceeded (5)', null],
    [
      { _tag: 'InsufficientVram', needed: 1400, free: 900 },
      503,
      'Not enough VRAM: 1400 MB required, 900 MB available',
      '30',
    ],
    [
      { _tag: 'InsufficientCompute', neededLanes: 0.4501, freeLanes: 0.4499 },
      503,
      'Not enough compute: 0.46 engine lanes required, 0.44 available; ' +
        'try again when a session has ended, or choose a smaller model',
      '30',
    ],
    [{ _tag: 'NoWorker' }, 503, 'No worker is available to run sessions', '5'],
    [{ _tag: 'ShuttingDown' }, 503, 'Service temporarily unavailable', '5'],
    [{ _tag: 'StoreUnavailable', reason: 'secret place' }, 503, 'Service temporarily unavailable', '5'],
    [{ _tag: 'Contended', stream: 'admission' }, 503, 'Service temporarily unavailable', '5'],
    [{ _tag: 'DocumentsUnavailable', reason: 'secret' }, 503, 'Service temporarily unavailable', '5'],
    [
      { _tag: 'DocumentsUnavailable', reason: 'secret', share: 0.369 },
      503, 'This list is being built from the log: 36 % are done', '30',
    ],
  ] as const
  for (const [refusal, status, detail, retryAfter] of refusals) {
    const http = await startHttp(t, { createLive: async () => E.left(refusal) })
    const response = await http.send('POST', '/lives', { as: 'user', body: MINIMAL })
    t.deepEqual(
      [response.status, await response.json(), response.headers.get('retry-after')],
      [status, { detail }, retryAfter],
    )
  }
  const taken = await startHttp(t, { createLive: async () => E.left({ _tag: 'ListenerTokenTaken' }) })
  const response = await taken.send('POST', '/lives', {
    as: 'user',
    body: { ...MINIMAL, listener_token: 'their-token' },
  })
  const { detail } = (await response.json()) as Errors
  t.deepEqual(
    [response.status, detail.map(({ type, loc }) => [type, loc])],
    [422, [['value_error', ['body', 'listener_token']]]],
  )
})

test('an unexpected error is a 500 without details and is logged with the request id', async (t) => {
  const http = await startHttp(t, {
    getLive: async () => {
      throw new Error('inner detail')
    },
    listLives: async () => E.right({ items: [liveView(1)], total: 1 }),
  })
  const response = await http.send('GET', '/lives/7', { as: 'user', headers: { 'x-request-id': 'my-id.1' } })
  t.deepEqual([response.status, await response.json()], [500, { detail: 'Internal Server Error' }])
  t.is(response.headers.get('x-request-id'), 'my-id.1')
  t.true(http.log.lines.some(({ level, fields }) => level === 'error' && fields['requestId'] === 'my-id.1'))
  t.is((await http.send('GET', '/lives', { as: 'user' })).status, 200)
})
