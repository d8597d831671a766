import * as E from 'fp-ts/lib/Either.js'
import {
  basePath, bearerToken, decimal, duration, durationWithin, eventStoreUrl, flag, hubUrl, integer, internalUrl, isCidr,
  isHost, isOrigin, isSocketOrigin, list, nodeName, oneOf, type Parse, publicUrl, roles, serverUrl, streamPrefix, text,
  username,
} from './parsers.ts'

interface Options {
  readonly secret?: boolean
}

const row = <A, F>(defaultText: string, fallback: F, parse: Parse<A>, meaning: string, { secret = false }: Options) =>
  ({ defaultText, fallback, parse, meaning, secret })

/** A setting with a default value, written as a user would write it. */
const withDefault = <A>(defaultText: string, parse: Parse<A>, meaning: string, options: Options = {}) => {
  const fallback = parse(defaultText)
  if (E.isLeft(fallback)) throw new Error(`default "${defaultText}" ${fallback.left}`)
  return row<A, A>(defaultText, fallback.right, parse, meaning, options)
}

/** A setting that is null when it is not set. `defaultText` describes the resulting behaviour. */
const optional = <A>(defaultText: string, parse: Parse<A>, meaning: string, options: Options = {}) =>
  row<A, null>(defaultText, null, parse, meaning, options)

/** Every setting of the service. The environment variable is the name with the prefix STENOLOG_. */
export const SETTINGS_TABLE = {
  HOST: withDefault(
    '127.0.0.1', text, 'address on which the service listens; 0.0.0.0 listens on every network of the machine',
  ),
  PORT: withDefault('8080', integer(0, 65535), 'port of the service; 0 picks a free port and prints it at start'),
  DATA_DIR: withDefault('./data', text, 'folder of the embedded stores and the master key'),
  ADMIN_USERNAME: optional(
    '–', username,
    'name of the first administrator, created at start when no administrator exists; unset: the service prints a '
      + 'one-time set-up link',
  ),
  ADMIN_PASSWORD: optional('–', text, 'password of the first administrator', { secret: true }),
  ADMIN_PASSWORD_FILE: optional('–', text, 'file that contains the password of the first administrator'),
  MASTER_KEY_FILE: optional(
    '`<data>/master.key`', text,
    'file with the 32 bytes that encrypt all other keys; required with EVENTSTORE_URL or MONGO_URL',
  ),
  VRAM_MB: optional(
    '90 % of the memory of the GPUs in use; without a GPU 50 % of RAM', integer(1, 1e9),
    'megabytes of memory that sessions can reserve',
  ),
  OVERCOMMIT: withDefault(
    '1', decimal(0, 100),
    'the service measures how many sessions the machine can run in real time, multiplies this number by OVERCOMMIT and '
      + 'refuses further sessions. 2: twice as many sessions; 0: no session is refused, the log only shows a warning',
  ),
  EVENTSTORE_URL: optional(
    '–', eventStoreUrl,
    'event log on EventStoreDB: esdb://user:password@host:2113, or on KurrentDB (not tested): kurrentdb://…; unset: '
      + 'embedded store',
    { secret: true },
  ),
  MONGO_URL: optional(
    '–', serverUrl('mongodb', 'mongodb+srv'),
    'lists (read models) and keys on MongoDB: mongodb://host/name; unset: embedded store', { secret: true },
  ),
  MODELS_DIR: optional('`<data>/models`', text, 'folder of additional models, with one folder for each model'),
  HUB_URL: optional(
    'the public hub', hubUrl, 'address of the hub that models are downloaded from; set it to use your own mirror',
  ),
  PUBLIC_URL: optional(
    '–', publicUrl, 'address under which clients reach the service, for example https://live.example.org',
  ),
  BASE_PATH: optional(
    '–', basePath, 'additional path under which the whole service is reachable, for example /captions',
  ),
  ALLOWED_HOSTS: optional(
    'loopback names and the bound address; with 0.0.0.0 or :: also every IP address', list(isHost, 'host names'),
    'host names that the service may copy from a request into its links',
  ),
  TRUSTED_PROXIES: optional(
    '–', list(isCidr, 'CIDR ranges'),
    'address ranges (CIDR) of proxies whose X-Forwarded-* or Forwarded headers are trusted',
  ),
  CORS_ORIGINS: withDefault('*', list(isOrigin, 'origins'), 'origins whose pages may call the REST interface'),
  WS_ORIGINS: withDefault(
    '*', list(isSocketOrigin, 'origins'),
    'origins whose pages may open WebSockets; `null` allows sandboxed frames such as the one in `iframe_html`',
  ),
  FRAME_ANCESTORS: withDefault('*', list(isOrigin, 'origins'), 'origins whose pages may embed captions'),
  AUDIO_URL_ALLOW_CIDRS: optional(
    '–', list(isCidr, 'CIDR ranges'),
    'private address ranges (CIDR) that audio URLs may reach, in addition to public addresses',
  ),
  SOURCE_ISOLATION: optional(
    'isolated where the machine supports it', oneOf('required', 'off'),
    'whether the processes that decode audio URLs are isolated from files and the network. unset: isolated if the '
      + 'machine supports it, otherwise not isolated, with a warning; `required`: isolated, and audio URLs are refused '
      + 'if the machine does not support it; `off`: not isolated',
  ),
  JWT_TTL: withDefault('24h', duration(1), 'how long a login lasts'),
  PENDING_TIMEOUT: withDefault('60m', duration(0), 'a session ends when no sender joins within this time; 0: never'),
  MAX_DURATION: withDefault('24h', duration(0), 'a session ends after this time; 0: never'),
  IDLE_TIMEOUT: withDefault('10m', duration(0), 'a session ends when its sender sends nothing for this time; 0: never'),
  RETENTION_MAX: withDefault('0', duration(0), 'stored transcripts are erased after this time; 0: never'),
  DRAIN_TIMEOUT: withDefault(
    '30s', duration(0), 'time that open sessions have to finish when the service stops; 0: none',
  ),
  RECONNECT_GRACE: withDefault(
    '0', duration(0), 'how long a session waits for its sender after the connection broke; 0: the session ends at once',
  ),
  RATE_LIMIT: withDefault(
    '50', integer(0, 1e6),
    'requests per second for each credential, or for each address of clients without a credential; bursts may be twice '
      + 'as large; all credentials of a user share ten times this limit, in which large requests cost more; 0: no '
      + 'limits, also for logins and WebSockets',
  ),
  DAILY_BUDGET: withDefault(
    '1000000', integer(0, 1e12),
    'what a user may write within a day, in units: a request that adds or changes something costs 1, and 1 more for '
      + 'each 8 KiB of its body; a changed vocabulary costs the same; each process counts for itself; 0: no limit',
  ),
  COMPAT_STRICT: withDefault(
    '0', flag, '1: frames and answers omit the members that Stenolog adds to the fixed interface 0.6.2',
  ),
  ROLE: withDefault(
    'all', roles,
    'tasks of this process: all, or a list of api (REST and sockets), worker (transcribes sessions) and projector '
      + '(updates the lists); a list needs EVENTSTORE_URL and MONGO_URL',
  ),
  NODE_NAME: optional(
    'generated once and kept in DATA_DIR', nodeName, 'name of this process; always `local` with embedded stores',
  ),
  INTERNAL_HOST: optional(
    'HOST', text,
    'address of the internal port, which other processes of the service connect to; used only with both EVENTSTORE_URL '
      + 'and MONGO_URL. On several machines, set it to an address that the others reach',
  ),
  INTERNAL_PORT: withDefault('0', integer(0, 65535), 'internal port; 0 picks a free port'),
  INTERNAL_URL: optional(
    'the bound address', internalUrl, 'host:port under which other processes reach the internal port',
  ),
  TAKEOVER_GRACE: optional(
    '60s with both servers, else 0', duration(0),
    'how long a session whose worker was lost waits for its sender, or for a worker with free capacity; 0: the session '
      + 'ends at once',
  ),
  STREAM_PREFIX: optional(
    '–', streamPrefix, 'prefix of all stream names and MongoDB database names, so several services can share servers',
  ),
  LEASE_TTL: withDefault(
    '5s', durationWithin(3000, 60_000),
    'only with MongoDB: a process that does not answer for this time counts as lost; from 3s to 60s, equal in all '
      + 'processes',
  ),
  METRICS_TOKEN: optional(
    '–', bearerToken,
    'bearer token that `/metrics` and the details of `/health/ready` require; unset: everybody can read them',
    { secret: true },
  ),
  LOG_LEVEL: withDefault(
    'info', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'least severe level that is logged; on a terminal, `debug` also shows every request',
  ),
} as const

export type SettingName = keyof typeof SETTINGS_TABLE
