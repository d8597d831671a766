import type { JsonSchema } from '../http/codecs/shapes.ts'
import { MAX_REPLAYED, MAX_SEGMENT } from '../ws/handshakes/handshake.ts'
import { CLIENT_MESSAGES, SERVICE_MESSAGES } from '../ws/messages.ts'
import { createSchemas } from './json-schema.ts'
import { INFO } from './texts.ts'

const EXAMPLES: Readonly<Record<string, JsonSchema>> = {
  config: {
    type: 'config', min_buffer: 1, max_buffer: 10, max_chars: 42, max_lines: 2, words: true,
    prompt: 'The speaker is Ada Lovelace.', hotwords: ['Analytical Engine', 'Babbage'],
  },
  audio: { type: 'audio', data: 'AAABAAIAAwA=' },
  finish: { type: 'FINISH' },
  ping: { type: 'ping' },
  connection: { type: 'connection', status: 'connected', role: 'sender', session_id: 7, state: 'pending' },
  asrStarted: { status: 'ASR process started' },
  started: { status: 'started' },
  transcription: {
    type: 'transcription', start: 0.5, end: 2.8, text: 'Good morning, everybody.', language: 'en', segment: 1,
    final: true,
    words: [
      { start: 0.5, end: 0.9, text: 'Good', confidence: 0.98 },
      { start: 0.9, end: 1.6, text: ' morning,', confidence: 0.97 },
      { start: 1.8, end: 2.8, text: ' everybody.', confidence: 0.91 },
    ],
  },
  translation: {
    type: 'translation', start: 0.5, end: 2.8, text: 'Buenos días a todos.', language: 'es', segment: 1, final: true,
  },
  finished: { status: 'finished' },
  error: { type: 'error', code: 'config_required', detail: 'Send a config message before audio' },
  pong: { type: 'pong' },
}

/** The binary frame. It is not in the tables of messages, because it has no JSON codec. */
const AUDIO_BYTES = {
  name: 'audioBytes',
  title: 'audioBytes',
  summary: 'Audio as a binary frame: 16-bit little-endian mono PCM at 16 kHz, at most ten seconds. The header of a '
    + 'WAVE file with such samples is skipped.',
  contentType: 'application/octet-stream',
  payload: { type: 'string', contentEncoding: 'binary' },
}

const TO_SENDERS = Object.keys(SERVICE_MESSAGES)
const TO_LISTENERS = TO_SENDERS.filter((name) => name !== 'asrStarted')
const FROM_SENDERS = [...Object.keys(CLIENT_MESSAGES), AUDIO_BYTES.name]
const ALL = [...TO_SENDERS, ...FROM_SENDERS]

const messageRefs = (pointer: string, names: ReadonlyArray<string>) =>
  names.map((name) => ({ $ref: `${pointer}/${name}` }))

const QUERY = {
  type: 'object',
  properties: {
    token: {
      type: 'string',
      description: 'The sender_token or listener_token of a session. It decides the role. Empty counts as missing.',
    },
    token_sender: { type: 'string', description: 'Another name of `token`.' },
    after: {
      type: 'integer', minimum: 0, maximum: MAX_SEGMENT,
      description: 'The `segment` of the last final text that a listener has. It gets the later text first.',
    },
    replay: {
      type: 'integer', minimum: 0, maximum: MAX_REPLAYED, default: 0,
      description: 'The number of final segments that a listener gets first. `after` takes precedence.',
    },
  },
}

const channel = (address: string, summary: string, parameters: JsonSchema = {}) => ({
  address,
  summary,
  ...parameters,
  messages: Object.fromEntries(ALL.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  bindings: { ws: { method: 'GET', query: QUERY } },
})

const CHANNELS = {
  live: channel('/ws/live/{id}', 'The WebSocket of a session', { parameters: { id: { description: 'Session id.' } } }),
  liveOfToken: channel('/ws/live', 'The WebSocket of the session that the token belongs to'),
}

const operations = (name: keyof typeof CHANNELS) => {
  const pointer = `#/channels/${name}/messages`
  const operation = (action: string, title: string, names: ReadonlyArray<string>) => ({
    action, title, channel: { $ref: `#/channels/${name}` }, messages: messageRefs(pointer, names),
  })
  return {
    [`${name}FromSender`]: operation('receive', 'Frames from a sender', FROM_SENDERS),
    [`${name}FromListener`]: operation('receive', 'Frames from a listener', ['ping']),
    [`${name}ToSender`]: operation('send', 'Frames to a sender', TO_SENDERS),
    [`${name}ToListener`]: operation('send', 'Frames to a listener', TO_LISTENERS),
  }
}

/** Converts an address of the HTTP interface. Null for a path, because AsyncAPI needs a host. */
const serverOf = (address: string): JsonSchema | null => {
  const url = URL.parse(address)
  if (url === null) return null
  const pathname = url.pathname === '/' ? {} : { pathname: url.pathname }
  return {
    host: url.host,
    protocol: url.protocol === 'https:' ? 'wss' : 'ws',
    ...pathname,
    security: [{ $ref: '#/components/securitySchemes/token' }],
  }
}

/** Returns the AsyncAPI 3.0 document of the WebSocket. `addresses` are the addresses of the HTTP interface. */
export const describeSocket = (addresses: ReadonlyArray<string>): JsonSchema => {
  const schemas = createSchemas()
  const messages = Object.entries({ ...CLIENT_MESSAGES, ...SERVICE_MESSAGES }).map(([name, { codec, summary }]) => [
    name,
    {
      name,
      title: name,
      summary,
      contentType: 'application/json',
      payload: schemas.of(codec),
      examples: [{ payload: EXAMPLES[name] }],
    },
  ])
  const servers = addresses.map(serverOf).flatMap((server, index) =>
    server === null ? [] : [[`server${index + 1}`, server] as const])
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${INFO.title} WebSocket`,
      version: INFO.version,
      description:
        'Senders send audio, and listeners get text. Create a session over REST (`openapi.json`) to get its tokens. ' +
        'A refused handshake gets an HTTP response with `{"detail": …}`: 401 for a wrong or missing token, 403 for ' +
        'an Origin that is not allowed, 422 for `after` or `replay` out of range, 429 with Retry-After ' +
        'for too many handshakes or sockets, and 503 with Retry-After while the service is unavailable. Without ' +
        '`Upgrade: websocket` a request gets 426.',
    },
    defaultContentType: 'application/json',
    ...(servers.length > 0 && { servers: Object.fromEntries(servers) }),
    channels: CHANNELS,
    operations: { ...operations('live'), ...operations('liveOfToken') },
    components: {
      schemas: schemas.components(),
      messages: { ...(Object.fromEntries(messages) as JsonSchema), [AUDIO_BYTES.name]: AUDIO_BYTES },
      securitySchemes: {
        token: { type: 'httpApiKey', in: 'query', name: 'token', description: 'A token of the session.' },
      },
    },
  }
}
