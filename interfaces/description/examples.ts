import { DEFAULT_ENGINE_SETTINGS } from '../../domain/live/settings.ts'
import type { JsonSchema } from '../http/codecs/shapes.ts'

const AT = '2026-11-21T09:30:00.123456+00:00'
const TOKEN = 'Zm9yIHRoZSBkZXNjcmlwdGlvbiBvbmx5'

/** Example values by member name, or by `Type.member` when a member name has several meanings. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...DEFAULT_ENGINE_SETTINGS,
  id: 7,
  username: 'ada',
  password: 'correct horse battery',
  current_password: 'correct horse battery',
  new_password: 'staple of correct horses',
  created_at: AT,
  updated_at: null,
  expires_at: '2027-11-21T09:30:00.000000+00:00',
  last_used_at: null,
  permissions: ['user_retention'],
  max_sessions: 10,
  max_translations: 5,
  'Model.id': 1,
  'Model.name': 'demo-en',
  'Language.id': 1,
  'Language.iso_639_1': 'en',
  'Language.name': 'English',
  'PairLanguage.id': 1,
  'PairLanguage.iso_639_1': 'en',
  'PairLanguage.name': 'English',
  'TranslationPair.model': 'translate-en-es',
  'TranslationPair.lang_to': { id: 30, iso_639_1: 'es', name: 'Spanish', active: true },
  'Profile.name': 'Lecture',
  name: 'Lecture',
  vram: 1024,
  status: 'pending',
  live_retention: false,
  audio_format: 'raw',
  audio_url: null,
  auto_start: false,
  auto_start_pid: null,
  iframe_html: null,
  sender_token: TOKEN,
  listener_token: TOKEN.toLowerCase(),
  base_url: 'ws://127.0.0.1:8080',
  relative_path: '/ws/live/7',
  'ApiToken.name': 'ci',
  'IssuedApiToken.name': 'ci',
  token_prefix: 'lt_abcdefghijkl',
  'IssuedApiToken.token': `lt_abcdefghijkl_${'0'.repeat(43)}`,
  access_token: 'header.claims.signature',
  'Version.version': '0.6.2',
  'Ready.checks': { eventStore: 'ok' },
  'Unready.checks': { eventStore: 'unavailable' },
  'Unready.detail': 'Service is not ready',
  'Pagination.total_items': 1,
  'Pagination.total_pages': 1,
  'Pagination.current_page': 1,
  'Pagination.per_page': 100,
  'HistoryEntry.id': 1,
  'HistoryEntry.type': 'LiveStarted',
  at: AT,
  actor: 'user:7',
  'HistoryEntry.data': {},
  correlation_id: '0198f0a4-7c1e-7b3d-9a52-3f6f2d1c0b9e',
  causation_id: '0198f0a4-7c1e-7b3d-9a52-3f6f2d1c0b9f',
  'LiveIntegrity.status': 'intact',
  'LiveIntegrity.entries': 4,
  'LiveIntegrity.first_position': 12,
  'LiveIntegrity.last_position': 31,
  'LiveIntegrity.head_hash': '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'LiveIntegrity.damaged': [],
  checked_at: AT,
  languages: ['en'],
  installed: true,
  ships: false,
  loads: true,
  precision: 'int8',
  source: 'onnx-community/whisper-base_timestamped',
  bytes: 78000000,
  measured: true,
  open_lives: 0,
  'AdminModel.id': 6,
  'AdminModel.name': 'base',
  'AdminTranslationPair.model': 'opus-mt-en-es',
  'Job.kind': 'pull',
  'Job.subject': 'base',
  'Job.status': 'running',
  'Job.done': 61000000,
  'Job.total': 100000000,
  'Job.unit': 'bytes',
  'Job.detail': 'onnx/encoder_model_quantized.onnx',
  'Job.result': null,
  'Job.actor': 'user:1',
  'Job.process': 'local',
  'Job.updated_at': AT,
  since: AT,
  step: 10,
  'Load.lag_max': [1.9],
  'Load.lag_p95': [0.8],
  'Load.vram_reserved': [3100],
  'Load.sessions': [2],
  'Load.listeners': [14],
  start: 0.5,
  end: 2.8,
  text: 'Good morning, everybody.',
  language: 'en',
  confidence: 0.97,
  words: true,
  prompt: 'The speaker is Ada Lovelace.',
  hotwords: ['Analytical Engine', 'Babbage'],
  'Word.text': 'Good',
  'Word.end': 0.9,
  'TranscriptSegment.words': [
    { start: 0.5, end: 0.9, text: 'Good', confidence: 0.98 },
    { start: 0.9, end: 1.6, text: ' morning,', confidence: 0.97 },
    { start: 1.8, end: 2.8, text: ' everybody.', confidence: 0.91 },
  ],
  lag: 0.8,
  listeners: 3,
  audio_seconds: 134.5,
  segments: 21,
  wrong_samples: null,
  text_until: null,
  'ListedModel.id': 6,
  'ListedModel.name': 'base',
  options: ['auto', 'translate', 'words', 'prompt', 'hotwords'],
  ignored: [],
  vram_total: 16000,
  vram_reserved: 3100,
  vram_free: 12900,
  open_sessions: 1,
  message: 'Done',
  is_active: true,
}

/** Examples of request bodies whose members depend on each other, by operation id. */
const BODIES: Readonly<Record<string, unknown>> = {
  createLive: {
    model: 'base',
    language: 'en',
    translations: ['es'],
    config: { max_chars: 42, words: true, hotwords: ['Babbage'] },
  },
  startJob: { kind: 'pull', subject: 'base' },
  finishLivesByAudioUrl: { audio_url: 'https://radio.example/stream.m3u8' },
}

type Components = Readonly<Record<string, JsonSchema>>

const exampleOfType = (type: unknown): unknown => {
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  return type === 'object' ? {} : 'text'
}

const isAllowed = (schema: JsonSchema, value: unknown): boolean =>
  !Array.isArray(schema['enum']) || schema['enum'].includes(value)

const record = (value: unknown): Readonly<Record<string, JsonSchema>> =>
  (value ?? {}) as Readonly<Record<string, JsonSchema>>

/** Returns an example value for `schema`. `components` are the schemas that `$ref` may name. */
export const exampleOf = (schema: JsonSchema, components: Components, typeName = ''): unknown => {
  const referred = typeof schema['$ref'] === 'string' ? schema['$ref'].replace('#/components/schemas/', '') : null
  if (referred !== null) return exampleOf(components[referred] ?? {}, components, referred)
  const [alternative] = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as ReadonlyArray<JsonSchema>) : []
  if (alternative !== undefined) return exampleOf(alternative, components, typeName)
  if (schema['default'] !== undefined) return schema['default']
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown
  if (schema['type'] === 'array') return [exampleOf(record(schema)['items'] ?? {}, components)]
  if (schema['properties'] === undefined)
    return exampleOfType(Array.isArray(schema['type']) ? schema['type'][0] : schema['type'])
  return Object.fromEntries(
    Object.entries(record(schema['properties'])).map(([name, member]) => {
      // A member with a named type gets the example of that type.
      const value = VALUES[`${typeName}.${name}`] ?? ('$ref' in member ? undefined : VALUES[name])
      return [name, value === undefined || !isAllowed(member, value) ? exampleOf(member, components) : value]
    }),
  )
}

export const exampleBody = (operationId: string, schema: JsonSchema, components: Components): unknown =>
  BODIES[operationId] ?? exampleOf(schema, components)
