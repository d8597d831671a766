import test from 'ava'
import type { Json, Listing, LiveJson } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const MINIMAL = { model: 'demo-en', language: 'en' }

type Location = ReadonlyArray<string | number>
/** Members of the body, and the type and location of the issue that they cause. */
type InvalidLive = readonly [members: Json, type: string, location: Location]

const INVALID_LIVES: ReadonlyArray<InvalidLive> = [
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
  [{ audio_format: 'hls', audio_url: `http://h/${'a'.repeat(2040)}` }, 'string_too_long', ['body', 'audio_url']],
  [{ audio_url: 'x'.repeat(2049) }, 'string_too_long', ['body', 'audio_url']],
  [{ translations: Array.from({ length: 101 }, () => 'fr') }, 'too_long', ['body', 'translations']],
  [{ translations: Array.from({ length: 5000 }, () => 1) }, 'too_long', ['body', 'translations']],
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
  [{ audio_format: 'RAW' }, 'enum', ['body', 'audio_format']],
  ...['rtmp', 'rtsp'].flatMap((audio_format) =>
    [undefined, null, ''].map((audio_url): InvalidLive => [
      { audio_format, audio_url },
      'missing',
      ['body', 'audio_url'],
    ]),
  ),
  [{ audio_format: 'hls', audio_url: 'ftp://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'hls', audio_url: 'example.com/a.m3u8' }, 'value_error', ['body', 'audio_url']],
  [{ audio_format: 'rtsp', audio_url: 'rtmps://h/a' }, 'value_error', ['body', 'audio_url']],
  [{ config: { min_buffer: 31 } }, 'less_than_equal', ['body', 'config', 'min_buffer']],
  [{ config: { min_buffer: '1' } }, 'float_type', ['body', 'config', 'min_buffer']],
  [{ config: { max_buffer: 0.4 } }, 'greater_than_equal', ['body', 'config', 'max_buffer']],
  [{ config: { buffer_timeout: 0 } }, 'greater_than_equal', ['body', 'config', 'buffer_timeout']],
  [{ config: { max_lines: 0 } }, 'greater_than_equal', ['body', 'config', 'max_lines']],
  [{ listener_token: 'x'.repeat(129) }, 'string_too_long', ['body', 'listener_token']],
  [{ listener_token: 'ünicode' }, 'string_pattern_mismatch', ['body', 'listener_token']],
  [{ listener_token: 'a/b/c/d' }, 'string_pattern_mismatch', ['body', 'listener_token']],
]

interface Issues {
  readonly detail: ReadonlyArray<{ readonly type: string; readonly loc: Location; readonly msg: string }>
}

test('each invalid member of a new session is 422 with type and location', async (t) => {
  const client = await service.user('mistaken')
  for (const [members, type, location] of INVALID_LIVES) {
    const { status, body } = await client.post<Issues>('/lives', { ...MINIMAL, ...members })
    t.is(status, 422, JSON.stringify(members))
    t.deepEqual(body.detail.map(({ type: found, loc }) => [found, loc]), [[type, location]], JSON.stringify(members))
    for (const issue of body.detail) t.deepEqual(Object.keys(issue), ['type', 'loc', 'msg'])
  }
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items, 0)
})

test('a setting must be a finite number', async (t) => {
  const client = await service.user('infinite')
  for (const [value, type, location] of [
    ['1e999', 'finite_number', ['body', 'config', 'max_delay']],
    ['NaN', 'json_invalid', ['body']],
    ['Infinity', 'json_invalid', ['body']],
    ['-Infinity', 'json_invalid', ['body']],
  ] as const) {
    const { status, body } = await client.request<Issues>('POST', '/lives', {
      headers: { 'content-type': 'application/json' },
      body: `{"model":"demo-en","language":"en","config":{"max_delay":${value}}}`,
    })
    t.is(status, 422, value)
    t.deepEqual(body.detail.map((issue) => [issue.type, issue.loc]), [[type, location]], value)
  }
})
