import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import test from 'ava'
import type { Issue } from '../../../interfaces/http/codecs/issues.ts'
import { startHttp } from './http-service.ts'

interface Errors { readonly detail: ReadonlyArray<Issue> }

const issuesOf = async (
  response: Response,
): Promise<ReadonlyArray<readonly [string, ReadonlyArray<string | number>]>> =>
  ((await response.json()) as Errors).detail.map(({ type, loc }) => [type, loc] as const)

const MINIMAL = { model: 'tiny', language: 'en' }

/** [the body's members, type and place of what is wrong with them] */
const BAD_LIVES: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, string, ReadonlyArray<string | number>]> = [
  [{ model: undefined }, 'missing', ['body', 'model']],
  [{ language: undefined }, 'missing', ['body', 'language']],
  [{ model: null }, 'string_type', ['body', 'model']],
  [{ model: 7 }, 'string_type', ['body', 'model']],
  [{ model: 'x'.repeat(201) }, 'string_too_long', ['body', 'model']],
  [{ audio_format: 'mp3' }, 'enum', ['body', 'audio_format']],
  [{ audio_format: 1 }, 'enum', ['body', 'audio_format']],
  [{ audio_format: 'hls' }, 'missing', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: null }, 'missing', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: '' }, 'missing', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 5 }, 'string_type', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'rtmp://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'rtmp', audio_url: 'http://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'rtsp', audio_url: 'https://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'file:///etc/passwd' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'http:h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'http://' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'rtmp', audio_url: 'rtmp:///a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: ' http://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'http://h/\na' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: `http://h/${'a'.repeat(2040)}` }, 'value_error', ['body', 'audio_url']],
  [{ translations: 'fr' }, 'list_type', ['body', 'translations']],
  [{ translations: ['fr', 3] }, 'string_type', ['body', 'translations', 1]],
  [{ auto_start: 'true' }, 'bool_type', ['body', 'auto_start']],
  [{ live_retention: 1 }, 'bool_type', ['body', 'live_retention']],
  [{ config: [] }, 'dict_type', ['body', 'config']],
  [{ config: 'x' }, 'dict_type', ['body', 'config']],
  [{ config: { vad: 'yes' } }, 'bool_type', ['body', 'config', 'vad']],
  [{ config: { punctuation: 0 } }, 'bool_type', ['body', 'config', 'punctuation']],
  [{ config: { mode: 'live' } }, 'enum', ['body', 'config', 'mode']],
  [{ config: { min_buffer: 0.05 } }, 'greater_than_equal', ['body', 'config', 'min_buffer']],
  [{ config: { max_buffer: 30.5 } }, 'less_than_equal', ['body', 'config', 'max_buffer']],
  [{ config: { max_buffer: '10' } }, 'float_type', ['body', 'config', 'max_buffer']],
  [{ config: { buffer_timeout: 31 } }, 'less_than_equal', ['body', 'config', 'buffer_timeout']],
  [{ config: { max_delay: 0.1 } }, 'greater_than_equal', ['body', 'config', 'max_delay']],
  [{ config: { max_delay: 61 } }, 'less_than_equal', ['body', 'config', 'max_delay']],
  [{ config: { max_chars: 0 } }, 'greater_than_equal', ['body', 'config', 'max_chars']],
  [{ config: { max_chars: 1001 } }, 'less_than_equal', ['body', 'config', 'max_chars']],
  [{ config: { max_chars: 1.5 } }, 'int_from_float', ['body', 'config', 'max_chars']],
  [{ config: { max_chars: '80' } }, 'int_type', ['body', 'config', 'max_chars']],
  [{ config: { max_lines: 101 } }, 'less_than_equal', ['body', 'config', 'max_lines']],
  [{ config: { words: 'yes' } }, 'bool_type', ['body', 'config', 'words']],
  [{ config: { task: 'summarize' } }, 'enum', ['body', 'config', 'task']],
  [{ config: { prompt: 7 } }, 'string_type', ['body', 'config', 'prompt']],
  [{ config: { prompt: 'x'.repeat(1001) } }, 'string_too_long', ['body', 'config', 'prompt']],
  [{ config: { prompt: 'half \ud83d' } }, 'string_pattern_mismatch', ['body', 'config', 'prompt']],
  [{ config: { hotwords: 'Babbage' } }, 'list_type', ['body', 'config', 'hotwords']],
  [{ config: { hotwords: Array.from({ length: 101 }, () => 'x') } }, 'too_long', ['body', 'config', 'hotwords']],
  [{ config: { hotwords: ['Babbage', ''] } }, 'string_too_short', ['body', 'config', 'hotwords', 1]],
  [{ config: { hotwords: ['x'.repeat(101)] } }, 'string_too_long', ['body', 'config', 'hotwords', 0]],
  [{ config: { min_buffer: 12, max_buffer: 11 } }, 'value_error', ['body', 'config', 'min_buffer']],
  [{ config: { min_buffer: 12 } }, 'value_error', ['body', 'config', 'min_buffer']],
  [{ config: { max_buffer: 0.5 } }, 'value_error', ['body', 'config', 'max_buffer']],
  [{ background_color: '#ffffff' }, 'string_pattern_mismatch', ['body', 'background_color']],
  [{ color_text: 'fffff' }, 'string_pattern_mismatch', ['body', 'color_text']],
  [{ color_text: 'red;x:url()' }, 'string_too_long', ['body', 'color_text']],
  [{ size_text: '12px' }, 'int_type', ['body', 'size_text']],
  [{ size_text: 0 }, 'greater_than_equal', ['body', 'size_text']],
  [{ size_text: 10000 }, 'less_than_equal', ['body', 'size_text']],
  [{ listener_token: 'abc' }, 'string_too_short', ['body', 'listener_token']],
  [{ listener_token: 'has space' }, 'string_pattern_mismatch', ['body', 'listener_token']],
  [{ custom_listener_token: 'x'.repeat(129) }, 'string_too_long', ['body', 'custom_listener_token']],
  [{ listener_token: 'one-token', custom_listener_token: 'another' }, 'value_error', ['body', 'listener_token']],
]

test('what is wrong with a live is named exactly, and nothing is created [R49–R53 R66 R71 R73]', async (t) => {
  const http = await startHttp(t)
  for (const [members, type, loc] of BAD_LIVES) {
    const response = await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, ...members } })
    t.is(response.status, 422, JSON.stringify(members))
    t.deepEqual(await issuesOf(response), [[type, loc]], JSON.stringify(members))
  }
  t.deepEqual(http.calls.created, [])
})

test('NaN, Infinity and 1e999 are no numbers of a setting [R71 S17]', async (t) => {
  const http = await startHttp(t)
  const body = (value: string) => `{"model":"tiny","language":"en","config":{"max_delay":${value}}}`
  t.deepEqual(
    await issuesOf(await http.send('POST', '/lives', { as: 'user', body: body('1e999') })),
    [['finite_number', ['body', 'config', 'max_delay']]],
  )
  for (const value of ['NaN', 'Infinity', '-Infinity'])
    t.deepEqual(await issuesOf(await http.send('POST', '/lives', { as: 'user', body: body(value) })), [
      ['json_invalid', ['body']],
    ])
})

test(
  'omitted and null members get their defaults, raw has no URL, and a target counts once [R46 R52 R55 R67 R70]',
  async (t) => {
    const http = await startHttp(t)
    const given = {
      ...MINIMAL,
      audio_url: 'ignored',
      auto_start: true,
      config: { mode: 'final', vad: null, unknown: 1 },
      translations: ['fr', 'es', 'fr'],
      size_text: null,
      background_color: null,
      unknown: true,
    }
    t.is((await http.send('POST', '/lives', { as: 'user', body: given })).status, 200)
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
  },
)

test('optional settings reach the application only when they were sent [B43 B44 B45]', async (t) => {
  const http = await startHttp(t)
  const asked = { words: false, task: 'transcribe', prompt: '', hotwords: ['Analytical Engine'] }
  for (const config of [asked, { words: null, task: null, prompt: null, hotwords: null }])
    t.is((await http.send('POST', '/lives', { as: 'user', body: { ...MINIMAL, config } })).status, 200)
  const [first, second] = http.calls.created
  t.like(first?.config, { words: false, task: 'transcribe' })
  t.deepEqual(first?.vocabulary, { prompt: '', hotwords: ['Analytical Engine'] })
  t.is(Object.keys(second?.config ?? {}).length, 9)
  t.false('vocabulary' in (second ?? {}))
})

test('URL, display settings and token of a session reach the application unchanged [D15 D21 R53]', async (t) => {
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

test('malformed JSON, other top-level types and too deep bodies are 422 [R8 S18]', async (t) => {
  const http = await startHttp(t)
  const bodies = [
    '{', 'nul', '"text"', '5', 'null', '[]', '[{}]', '{"a":1}}', '\u0000',
    '{"model":"tiny","language":"en","x":' + '['.repeat(40) + ']'.repeat(40) + '}', '['.repeat(60000),
  ]
  for (const body of bodies)
    t.is((await http.send('POST', '/lives', { as: 'user', body })).status, 422, body.slice(0, 40))
  for (const encoding of ['gzip', 'br', 'deflate', 'unknown'])
    t.is(
      (
        await http.send('POST', '/lives', {
          as: 'user',
          body: JSON.stringify(MINIMAL),
          headers: { 'content-encoding': encoding },
        })
      ).status,
      422,
      encoding,
    )
  t.deepEqual(
    await issuesOf(await http.send('POST', '/lives', { as: 'user' })),
    [['missing', ['body', 'model']], ['missing', ['body', 'language']]],
  )
  t.deepEqual(http.calls.created, [])
})

test('a member named __proto__ is like any unknown member [S16]', async (t) => {
  const http = await startHttp(t)
  const body =
    '{"__proto__":{"model":"evil","auto_start":true},"constructor":{"prototype":{"polluted":1}},"model":"tiny","language":"en"}'
  t.is((await http.send('POST', '/lives', { as: 'user', body })).status, 200)
  t.is(http.calls.created[0]?.model, 'tiny')
  t.is(({} as Record<string, unknown>)['polluted'], undefined)
  const inherited = await http.send('POST', '/lives', {
    as: 'user',
    body: '{"__proto__":{"model":"tiny","language":"en"}}',
  })
  t.is(inherited.status, 422)
})

test('bodies above the limits are 413, declared or not [R10]', async (t) => {
  const http = await startHttp(t)
  const json = (size: number) => JSON.stringify({ ...MINIMAL, x: 'a'.repeat(size) })
  const tooLarge = { detail: 'Request body too large' }
  t.is((await http.send('POST', '/lives', { as: 'user', body: json(65_000) })).status, 200)
  const declared = await http.send('POST', '/lives', { as: 'user', body: json(65_536) })
  t.deepEqual([declared.status, await declared.json()], [413, tooLarge])
  const form = await http.send('POST', '/login', {
    body: new URLSearchParams({ username: 'ann', password: 'x'.repeat(8192) }),
  })
  t.deepEqual([form.status, await form.json()], [413, tooLarge])
})

test('a body without a declared length is refused as soon as it passes the limit [R10]', async (t) => {
  const http = await startHttp(t)
  const upload = request(`${http.url}/lives`, {
    method: 'POST',
    headers: { authorization: 'Bearer user', 'content-type': 'application/json' },
  })
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  upload.write(' '.repeat(64 * 1024 + 1))
  // The request has not ended: an answer shows that nothing more was waited for.
  const [response] = await answered
  t.is(response.statusCode, 413)
  upload.destroy()
})

test('login takes a form, answers exactly two members, and tells no more than it must [R26 R28 R29]', async (t) => {
  const http = await startHttp(t)
  const form = (members: Record<string, string>) => http.send('POST', '/login', { body: new URLSearchParams(members) })
  const good = await form({
    username: 'ann',
    password: 'right password',
    grant_type: 'password',
    scope: '',
    client_id: 'x',
  })
  t.deepEqual([good.status, await good.json()], [200, { access_token: 'a.jwt.token', token_type: 'bearer' }])
  for (const members of [{ username: 'ann', password: 'wrong' }, { username: 'nobody', password: 'right password' }]) {
    const wrong = await form(members)
    t.deepEqual([wrong.status, await wrong.json()], [401, { detail: 'Incorrect username or password' }])
    t.is(wrong.headers.get('www-authenticate'), 'Bearer')
  }
  t.deepEqual(await issuesOf(await form({ username: 'ann' })), [['missing', ['body', 'password']]])
  const json = await http.send('POST', '/login', { body: { username: 'ann', password: 'right password' } })
  t.deepEqual(await issuesOf(json), [['missing', ['body', 'username']], ['missing', ['body', 'password']]])
  const twice = await http.send(
    'POST', '/login', { body: new URLSearchParams([['username', 'ann'], ['username', 'bob'], ['password', 'x']]) },
  )
  t.deepEqual(await issuesOf(twice), [['string_type', ['body', 'username']]])
})

test('finish-by-audio_url wants a string [R95]', async (t) => {
  const http = await startHttp(t)
  for (const [body, type] of [
    [{}, 'missing'],
    [{ audio_url: null }, 'string_type'],
    [{ audio_url: 5 }, 'string_type'],
  ] as const)
    t.deepEqual(await issuesOf(await http.send('PUT', '/lives/finish-by-audio_url', { as: 'user', body })), [
      [type, ['body', 'audio_url']],
    ])
})

test('creating a user validates every member and applies the default quotas [D47]', async (t) => {
  const http = await startHttp(t)
  const bad: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, string]> = [
    [{ username: '' }, 'username'],
    [{ username: 'a\r\nb' }, 'username'],
    [{ username: 'é'.repeat(101) }, 'username'],
    [{ username: '\ud800' }, 'username'],
    [{ password: 'short' }, 'password'],
    [{ password: 'é'.repeat(513) }, 'password'],
    [{ password: 12345678 }, 'password'],
    [{ permissions: 'admin' }, 'permissions'],
    [{ max_sessions: -1 }, 'max_sessions'],
    [{ max_translations: 1.5 }, 'max_translations'],
  ]
  for (const [members, at] of bad) {
    const response = await http.send('POST', '/users/', {
      as: 'admin',
      body: { username: 'bob', password: 'long enough', ...members },
    })
    t.deepEqual((await issuesOf(response)).map(([, loc]) => loc), [['body', at]], JSON.stringify(members))
  }
  const good = await http.send(
    'POST', '/users/', { as: 'admin', body: { username: 'bob', password: 'éééé', permissions: ['user_retention'] } },
  )
  t.is(good.status, 200)
  t.deepEqual(http.calls.registered, [
    {
      user: { username: 'bob', password: 'éééé', permissions: ['user_retention'], maxSessions: 10, maxTranslations: 5 },
      actor: 'user:1',
    },
  ])
})
