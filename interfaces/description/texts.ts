/** The texts of the OpenAPI document, and its parts that are equal for all operations. */
import { SETTING_TEXTS } from '../http/codecs/setting-texts.ts'
import { INTERFACE_VERSION } from '../http/interface-version.ts'

export const INFO = {
  title: 'Stenolog',
  version: INTERFACE_VERSION,
  summary: 'Live transcription that you host yourself',
  description: [
    'A client creates a session over REST and sends audio over its WebSocket. Any number of listeners get the text.',
    '`asyncapi.json`, next to this document, describes the WebSocket.',
    'A request that is malformed, too slow or too large gets 400, 408, 413, 417 or 431 with `detail`, on any path.',
    'The settings `words`, `task`, `prompt` and `hotwords` are in a response only if a client has sent them. '
      + 'Lists leave out `prompt` and `hotwords`.',
    'The body of a request is UTF-8. It may be compressed: `Content-Encoding` gzip, deflate or br.',
    'Every path works with and without a trailing slash. Unknown members and query parameters are ignored.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
}

export const TAGS = [
  { name: 'Public', description: 'Needs no credentials. Credentials are ignored.' },
  {
    name: 'Private',
    description: 'Needs the token of a login as bearer token. Operations that list `apiKey` also accept an API token, '
      + 'as bearer token or in X-API-Key.',
  },
]

export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: '`access_token` of POST /login. Operations that list `apiKey` also accept the secret of an API token.',
  },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Secret of an API token. It is ignored if Authorization is sent too.',
  },
}

const text = (description: string, members: Readonly<Record<string, unknown>> = {}) => ({
  description,
  required: true,
  schema: { type: 'string', ...members },
})

export const HEADERS = {
  'X-Request-ID': text('Id of the request: the X-Request-ID of the request if it is well formed, otherwise a new id.', {
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  'X-Service-Version': text('Version of the product.'),
  'Retry-After': text('Seconds until the next attempt.', { pattern: '^[0-9]+$' }),
  'WWW-Authenticate': text('Authentication scheme.', { enum: ['Bearer'] }),
  'Accept-Encoding': { ...text('The encodings that a body may have.'), required: false },
  Link: { ...text('First, previous, next and last page (RFC 8288).'), required: false },
}

export const PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Id of the object that the path names.',
  entry: 'Position of the event in the history, from 1.',
  skip: 'Number of items to skip.',
  limit: 'Maximum number of items. More than 1000 counts as 1000.',
  name: 'Only the item with exactly this name.',
  iso_639_1: 'Only the language with exactly this ISO 639-1 code.',
  lang_from: 'Only pairs from the language with this code.',
  lang_to: 'Only pairs into the language with this code.',
  model: 'Only languages of the model with this name.',
  status: 'Only items with this status. May be repeated.',
  user_id: 'Only items of this user.',
  kind: 'Only jobs of this kind. May be repeated.',
  minutes: 'Number of minutes to look back, at most 360.',
  format: 'Format of the transcript.',
  language: 'Only text in the language with this code.',
  chars_per_line: 'Longest line of text and subtitles, in characters.',
  lines: 'Maximum number of lines in a subtitle.',
  background_color: 'Background colour of the page: 3, 4, 6 or 8 hexadecimal digits.',
  color_text: 'Text colour of the page: 3, 4, 6 or 8 hexadecimal digits.',
  size_text: 'Text size of the page, in pixels.',
  controls: '1: the page shows controls for language, size, contrast and full screen.',
  'Idempotency-Key': 'Makes a repeated request safe: for 24 hours, the same key and body get the same session.',
}

/** Descriptions of the members of requests. */
export const PROPERTIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(SETTING_TEXTS).map(([name, { meaning }]) => [name, meaning])),
  name: 'Name of the profile or token, without invisible characters, and with single spaces only between words.',
  username: 'Name of the user. A new name has no invisible characters, and single spaces only between words.',
  password: 'Password. A new one has at least 8 characters, and at most 1,024 bytes of UTF-8.',
  current_password: 'Your current password.',
  new_password: 'Your new password, at least 8 characters, and at most 1,024 bytes of UTF-8.',
  token: 'Token of the set-up link.',
  everywhere: '`true`: end all your logins. `false`: end only the login of this request.',
  permissions: '`admin`: may administer the service. `user_retention`: may keep text.',
  max_sessions: 'Maximum number of open sessions.',
  max_translations: 'Maximum number of translations of a session.',
  is_active: '`true`: switched on. `false`: switched off.',
  expires_at: 'Time when the token expires. Default: never.',
  kind: 'Kind of the job.',
  subject: 'Depends on the kind. `pull`: name of a model, or its repository (owner/name). `verify`: name of a model, '
    + 'or null for all models. `rebuild`: name of a read model, or null for all read models. `check`: null.',
  precision: 'Precision of the weights. Default: int8 on a CPU, fp32 on a GPU.',
  force: 'Replace an installed model with this name.',
  model: 'Name of a model. `GET /models/` lists the models.',
  language: 'Code of the spoken language, or `auto`. `GET /languages/` lists the languages.',
  audio_format: '`raw`: a sender sends the audio. Otherwise the service reads the audio from `audio_url`.',
  audio_url: 'Address of the audio: http(s) for `hls`, rtmp(s) for `rtmp`, rtsp(s) for `rtsp`.',
  translations: 'Codes of the target languages.',
  auto_start: '`true`: start to read the audio URL immediately. `false`: start when a sender sends its config.',
  live_retention: 'Keep the text after the end. Needs the permission `user_retention`.',
  config: 'Settings of the session.',
  background_color: 'Background colour of the embedded captions: 3, 4, 6 or 8 hexadecimal digits.',
  color_text: 'Text colour of the embedded captions: 3, 4, 6 or 8 hexadecimal digits.',
  size_text: 'Text size of the embedded captions, in pixels.',
  listener_token: 'Listener token of your choice. Default: a random token.',
  custom_listener_token: 'Another name of `listener_token`.',
}
