import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Issue } from '../../../interfaces/http/codecs/issues.ts'
import { decodeConfig } from '../../../interfaces/ws/protocol.ts'
import { startHttp } from './http-service.ts'

interface Errors { readonly detail: ReadonlyArray<Issue> }

const issuesOf = async (
  response: Response,
): Promise<ReadonlyArray<readonly [string, ReadonlyArray<string | number>]>> =>
  ((await response.json()) as Errors).detail.map(({ type, loc }) => [type, loc] as const)

const MINIMAL = { model: 'tiny', language: 'en' }

test('defaults replace omitted and null members; a raw session has no URL and no repeated target', async (t) => {
  const http = await startHttp(t)
  const body = {
    ...MINIMAL,
    audio_url: 'ignored',
    auto_start: true,
    config: { mode: 'final', vad: null, unknown: 1 },
    translations: ['fr', 'es', 'fr'],
    size_text: null,
    background_color: null,
    unknown: true,
  }
  t.is((await http.send('POST', '/lives', { as: 'user', body })).status, 200)
  t.deepEqual(http.calls.created, [
    {
      model: 'tiny',
      language: 'en',
      audioFormat: 'raw',
      audioUrl: null,
      translations: ['fr', 'es'],
      autoStart: false,
      retention: false,
      config: {
        vad: true,
        mode: 'final',
        min_buffer: 1,
        max_buffer: 10,
        buffer_timeout: 1,
        max_delay: 5,
        max_chars: 80,
        max_lines: 2,
        punctuation: true,
      },
      display: null,
      listenerToken: null,
    },
  ])
})

test('optional settings reach the application only when they were sent', async (t) => {
  const http = await startHttp(t)
  const options = { words: false, task: 'transcribe', prompt: '', hotwords: ['Analytical Engine'] }
  for (const config of [options, { words: null, task: null, prompt: null, hotwords: null }])
    t.is((await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, config } })).status, 200)
  const [first, second] = http.calls.created
  t.like(first?.config, { words: false, task: 'transcribe' })
  t.deepEqual(first?.vocabulary, { prompt: '', hotwords: ['Analytical Engine'] })
  t.is(Object.keys(second?.config ?? {}).length, 9)
  t.false('vocabulary' in (second ?? {}))
})

test('the longest texts are counted by code points, in REST and in config frames', async (t) => {
  const http = await startHttp(t)
  const config = { prompt: '😀'.repeat(1000), hotwords: ['😀'.repeat(100)] }
  const longer = { prompt: `${config.prompt}a`, hotwords: [`${config.hotwords[0]}a`] }
  t.is((await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, config } })).status, 200)
  t.deepEqual(await issuesOf(await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, config: longer } })), [
    ['string_too_long', ['body', 'config', 'prompt']],
    ['string_too_long', ['body', 'config', 'hotwords', 0]],
  ])
  t.deepEqual(decodeConfig(config), E.right({ settings: {}, vocabulary: config }))
  t.deepEqual(decodeConfig(longer), E.left('invalid_config'))
})

test('URL, display settings and token of a session reach the application unchanged', async (t) => {
  const http = await startHttp(t)
  const urls = [
    ['hls', 'HTTPS://user:pw@Host:8080/a b%20?x#y'.replace(' ', '%20')],
    ['rtmp', 'rtmps://h/app/key'],
    ['rtsp', 'rtsp://[::1]:554/s'],
  ] as const
  for (const [audio_format, audio_url] of urls) {
    const body = {
      ...MINIMAL,
      audio_format,
      audio_url,
      auto_start: true,
      color_text: 'FFF',
      custom_listener_token: 'my~token',
    }
    t.is((await http.send('POST', '/lives', { as: 'user', body })).status, 200, audio_url)
    const created = http.calls.created.at(-1)
    t.deepEqual([created?.audioUrl, created?.autoStart, created?.listenerToken], [audio_url, true, 'my~token'])
    t.deepEqual(created?.display, { background_color: null, color_text: 'FFF', size_text: null })
  }
})

test('a body without a declared length is refused as soon as it passes the limit', async (t) => {
  const http = await startHttp(t)
  const upload = request(`${http.url}/lives`, {
    method: 'POST',
    headers: { authorization: 'Bearer user', 'content-type': 'application/json' },
  })
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  upload.write(' '.repeat(64 * 1024 + 1))
  // The request has not ended, so the answer came before its end.
  const [response] = await answered
  t.is(response.statusCode, 413)
  upload.destroy()
})

test('creating a user validates every member and applies the default quotas', async (t) => {
  const http = await startHttp(t)
  const bad: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, string]> = [
    [{ username: '' }, 'username'],
    [{ username: 'a\r\nb' }, 'username'],
    [{ username: 'é'.repeat(101) }, 'username'],
    [{ username: '\ud800' }, 'username'],
    [{ username: ' bob' }, 'username'],
    [{ username: '\u202ebob' }, 'username'],
    [{ password: 'short' }, 'password'],
    [{ password: '密码一' }, 'password'],
    [{ password: 'é'.repeat(513) }, 'password'],
    [{ password: 12345678 }, 'password'],
    [{ permissions: 'admin' }, 'permissions'],
    [{ max_sessions: -1 }, 'max_sessions'],
    [{ max_translations: 1.5 }, 'max_translations'],
  ]
  for (const [members, badMember] of bad) {
    const response = await http.send('POST', '/users/', {
      as: 'admin',
      body: { username: 'bob', password: 'long enough', ...members },
    })
    t.deepEqual((await issuesOf(response)).map(([, loc]) => loc), [['body', badMember]], JSON.stringify(members))
  }
  const good = await http.send(
    'POST',
    '/users/',
    { as: 'admin', body: { username: 'bob', password: 'éééééééé', permissions: ['user_retention'] } },
  )
  t.is(good.status, 200)
  t.deepEqual(http.calls.registered, [
    {
      user: {
        username: 'bob',
        password: 'éééééééé',
        permissions: ['user_retention'],
        maxSessions: 10,
        maxTranslations: 5,
      },
      actor: 'user:1',
    },
  ])
})
