/** What people read in the description of the interface, and what is the same for all operations. */
import { SETTING_TEXTS } from '../http/codecs/setting-texts.ts'
import { INTERFACE_VERSION } from '../http/interface-version.ts'

export const INFO = {
  title: 'Stenolog',
  version: INTERFACE_VERSION,
  summary: 'Live transcription that you host yourself',
  description: [
    'A client creates a live session over REST, sends audio over its WebSocket, and any number of listeners read the text while it is spoken.',
    'The WebSocket is described in `asyncapi.json` beside this document.',
    'What is no valid HTTP, too slow or too large in its head is answered 400, 408, 413, 417 or 431 with `detail`, on any path.',
    'The language `auto` and the settings `words`, `task`, `prompt` and `hotwords` go beyond the interface: they are told only where they were sent.',
    'Every path answers with and without a trailing slash. Members and query parameters that are not described are ignored.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
}

export const TAGS = [
  { name: 'Public', description: 'Needs no credentials, and ignores them.' },
  { name: 'Private', description: 'Needs the token of a login (bearer) or, where that is offered, an API key (bearer or X-API-Key).' },
]

export const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: '`access_token` of POST /login; where `apiKey` is offered, an API token too.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Secret of an API token. Authorization decides where both are sent.' },
}

const text = (description: string, members: Readonly<Record<string, unknown>> = {}) => ({
  description,
  required: true,
  schema: { type: 'string', ...members },
})

export const HEADERS = {
  'X-Request-ID': text('Id of the request: the one that was sent if it is well formed, else a new one.', { pattern: '^[A-Za-z0-9._-]{1,64}$' }),
  'X-Service-Version': text('Version of the product.'),
  'Retry-After': text('Seconds after which to try again.', { pattern: '^[0-9]+$' }),
  'WWW-Authenticate': text('The scheme of authentication.', { enum: ['Bearer'] }),
  Link: { ...text('First, previous, next and last page (RFC 8288).'), required: false },
}

export const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Id of the resource.',
  entry: 'Place of the event in the history, from 1.',
  skip: 'How many items to skip.',
  limit: 'How many items to answer at most; more than 1000 counts as 1000.',
  name: 'Exactly this name.',
  iso_639_1: 'Exactly this ISO 639-1 code.',
  lang_from: 'Code of the spoken language.',
  lang_to: 'Code of the language of the translation.',
  model: 'Only what the model with this name hears.',
  status: 'Only these states; may be repeated.',
  user_id: 'Only what belongs to this user.',
  kind: 'Only jobs of this kind; may be repeated.',
  minutes: 'So many minutes back, at most 360.',
  format: 'Form of the transcript.',
  language: 'Only text of this language.',
  chars_per_line: 'Longest line of text and subtitles.',
  lines: 'Most lines of a subtitle.',
  'Idempotency-Key': 'Makes a repeated request safe: for 24 hours the same key and body get the first answer.',
}

/** Of the members of requests, by their names. */
export const PROPERTIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(SETTING_TEXTS).map(([name, { meaning }]) => [name, meaning])),
  name: 'Name, to find it again.',
  username: 'Name of the user, 1 to 100 characters.',
  password: 'Password, at least 8 characters.',
  current_password: 'Password until now.',
  new_password: 'Password from now on.',
  token: 'Secret of the set-up link.',
  everywhere: 'Ends every login of the user instead of this one.',
  permissions: '`admin`: may administer; `user_retention`: may keep text.',
  max_sessions: 'Most sessions that may be open at once.',
  max_translations: 'Most translations of a session.',
  is_active: 'Whether it may be used.',
  expires_at: 'Refused from then on; left out: never.',
  kind: 'What to do.',
  subject: 'A model (a name, or owner/name), or a list; left out: all.',
  precision: 'Of the weights; left out: what the machine runs best, int8 on a CPU, fp32 on a GPU.',
  force: 'Replaces a model of that name.',
  model: 'Name of a model, as `GET /models/` lists it.',
  language: 'Code of the spoken language, as `GET /languages/` lists it, or `auto`.',
  audio_format: '`raw`: a sender sends the audio; else the service pulls `audio_url`.',
  audio_url: 'Address of the audio; http(s) for `hls`, rtmp(s), rtsp(s).',
  translations: 'Codes of the languages to translate into.',
  auto_start: 'Pull the audio at once instead of when a sender sends its config.',
  live_retention: 'Keep the text after the end; needs the permission `user_retention`.',
  config: 'Settings of the session.',
  background_color: 'Background of the embedded captions, 3, 4, 6 or 8 hexadecimal digits.',
  color_text: 'Colour of their letters, the same way.',
  size_text: 'Size of their letters in pixels.',
  listener_token: 'Listener token of your choice; left out: a random one.',
  custom_listener_token: 'Another name of `listener_token`.',
}
