import { isIP } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import { flow } from 'fp-ts/lib/function.js'
import { ROLES } from '../application/ports/peers/members.ts'
import type { Role } from '../application/ports/peers/members.ts'
import { usernameProblem } from '../domain/user/credential-rules.ts'
import { parseConnection } from './eventstoredb/connection.ts'

/** Left: what is wrong, to be read after the name; it never repeats the value. */
type Parse<A> = (text: string) => E.Either<string, A>

const text: Parse<string> = (value) => E.right(value)

const username: Parse<string> = (value) => {
  const problem = usernameProblem(value)
  return problem === null ? E.right(value) : E.left(problem)
}

const integer =
  (min: number, max: number): Parse<number> =>
  (value) =>
    /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? E.right(Number(value))
      : E.left(`should be an integer from ${min} to ${max}`)

const decimal =
  (min: number, max: number): Parse<number> =>
  (value) =>
    /^\d{1,6}(?:\.\d{1,6})?$/.test(value) && Number(value) >= min && Number(value) <= max
      ? E.right(Number(value))
      : E.left(`should be a number from ${min} to ${max}`)

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }

/** A node's name stands in log lines, documents and sentences. */
const nodeName: Parse<string> = (value) =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)
    ? E.right(value)
    : E.left('should be 1 to 63 letters, digits, dots, dashes and underscores, beginning with a letter or digit')

const duration =
  (min: number): Parse<number> =>
  (value) => {
    const match = /^(\d{1,9})([smh]?)$/.exec(value)
    const amount = Number(match?.[1])
    const unit = UNITS[match?.[2] ?? '']
    if (match === null || (unit === undefined && amount !== 0)) return E.left('should be a duration like 30s, 60m or 24h')
    const milliseconds = amount * (unit ?? 0)
    return milliseconds < min ? E.left('should be greater than 0') : E.right(milliseconds)
  }

const durationWithin = (least: number, most: number): Parse<number> =>
  flow(duration(0), E.filterOrElse(
    (milliseconds) => milliseconds >= least && milliseconds <= most,
    () => `should be a duration from ${least / 1000}s to ${most / 1000}s`,
  ))

const flag: Parse<boolean> = (value) => (value === '0' || value === '1' ? E.right(value === '1') : E.left('should be 0 or 1'))

const oneOf =
  <const V extends string>(...values: ReadonlyArray<V>): Parse<V> =>
  (value) => {
    const found = values.find((candidate) => candidate === value)
    return found === undefined ? E.left(`should be one of ${values.join(', ')}`) : E.right(found)
  }

const list =
  (isItem: (item: string) => boolean, what: string): Parse<ReadonlyArray<string>> =>
  (value) => {
    const items = value.split(',').map((item) => item.trim())
    return items.every(isItem) ? E.right(items) : E.left(`should be a comma-separated list of ${what}`)
  }

const isCidr = (item: string): boolean => {
  const [address = '', prefix, ...rest] = item.split('/')
  const family = isIP(address)
  if (family === 0 || prefix === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false
  return Number(prefix) <= (family === 4 ? 32 : 128)
}

const isOrigin = (item: string): boolean => item === '*' || (URL.canParse(item) && new URL(item).origin === item)

/** Pages in a sandboxed frame have the origin `null`. */
const isSocketOrigin = (item: string): boolean => item === 'null' || isOrigin(item)

const isHost = (item: string): boolean => /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*)|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(item)

const publicUrl: Parse<string> = (value) => {
  const url = URL.parse(value)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain && ['http:', 'https:'].includes(url.protocol)
    ? E.right(`${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`)
    : E.left('should be an http or https URL without credentials, query and fragment')
}

const hubUrl: Parse<string> = (value) =>
  ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')
    ? E.right(value)
    : E.left('should be an http or https URL')

const basePath: Parse<string> = (value) =>
  /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(value) ? E.right(value.replace(/\/$/, '')) : E.left('should be a path like /stenolog')

/** As a header Authorization can carry it; 16 characters are not guessed within the limits on requests. */
const bearerToken: Parse<string> = (value) =>
  /^[A-Za-z0-9._~+/-]{16,512}=*$/.test(value)
    ? E.right(value)
    : E.left('should be 16 or more letters, digits and characters of ._~+/-')

const serverUrl =
  (...schemes: ReadonlyArray<string>): Parse<string> =>
  (value) =>
    schemes.some((scheme) => value.startsWith(`${scheme}://`)) ? E.right(value) : E.left(`should begin with ${schemes.join(':// or ')}://`)

const eventStoreUrl: Parse<string> = (value) => {
  const connection = parseConnection(value)
  return E.isLeft(connection) ? connection : E.right(value)
}

const isRole = (item: string): item is Role => (ROLES as ReadonlyArray<string>).includes(item)

/** `all`, or some of them. */
const roles: Parse<ReadonlyArray<Role>> = (value) => {
  const items = value.split(',').map((item) => item.trim())
  if (items.includes('all')) return E.right(ROLES)
  return items.every(isRole)
    ? E.right(ROLES.filter((role) => items.includes(role)))
    : E.left(`should be all, or a comma-separated list of ${ROLES.join(', ')}`)
}

/** `host:port`, as others dial it; a scheme in front is taken off. */
const internalUrl: Parse<string> = (value) => {
  const address = value.replace(/^https:\/\//, '').replace(/\/$/, '')
  return isHost(address) && /:\d{1,5}$/.test(address) ? E.right(address) : E.left('should be host:port')
}

/** Stands before names of streams, so that none of them begins like one without it, and of databases. */
const streamPrefix: Parse<string> = (value) =>
  /^[a-z0-9][a-z0-9_-]{0,30}$/.test(value)
    ? E.right(value)
    : E.left('should be 1 to 31 small letters, digits, dashes and underscores, beginning with a letter or digit')

interface Options {
  readonly secret?: boolean
}

const row = <A, F>(defaultText: string, fallback: F, parse: Parse<A>, meaning: string, { secret = false }: Options) =>
  ({ defaultText, fallback, parse, meaning, secret })

/** A setting that has a value when it is not given; the default is written as a user would write it. */
const given = <A>(defaultText: string, parse: Parse<A>, meaning: string, options: Options = {}) => {
  const fallback = parse(defaultText)
  if (E.isLeft(fallback)) throw new Error(`default "${defaultText}" ${fallback.left}`)
  return row<A, A>(defaultText, fallback.right, parse, meaning, options)
}

/** A setting that is null when it is not given. */
const absent = <A>(defaultText: string, parse: Parse<A>, meaning: string, options: Options = {}) =>
  row<A, null>(defaultText, null, parse, meaning, options)

/** Every setting of the service: the environment variable is the name with the prefix STENOLOG_. */
export const SETTINGS_TABLE = {
  HOST: given('127.0.0.1', text, 'address that the service listens on; 0.0.0.0 is every network of the machine'),
  PORT: given('8080', integer(0, 65535), 'port; 0 takes a free one and prints it at start'),
  DATA_DIR: given('./data', text, 'folder of the embedded stores and the master key'),
  ADMIN_USERNAME: absent('–', username, 'name of the first administrator, created at start when there is none; without it the service prints a one-time set-up link'),
  ADMIN_PASSWORD: absent('–', text, 'password of the first administrator', { secret: true }),
  ADMIN_PASSWORD_FILE: absent('–', text, 'file that holds the password of the first administrator'),
  MASTER_KEY_FILE: absent('`<data>/master.key`', text, 'file of 32 bytes that encrypt all keys; required with EVENTSTORE_URL and MONGO_URL'),
  VRAM_MB: absent('90 % of the GPU’s, else 50 % of RAM', integer(1, 1e9), 'megabytes that sessions can reserve'),
  OVERCOMMIT: given(
    '1', decimal(0, 100),
    'how often the measured compute is given to sessions before one more is refused; 2 admits twice as many; 0 refuses none and only warns',
  ),
  EVENTSTORE_URL: absent('–', eventStoreUrl, 'event log on EventStoreDB or KurrentDB, as esdb://user:password@host:2113 or kurrentdb://…; unset: embedded', { secret: true }),
  MONGO_URL: absent('–', serverUrl('mongodb', 'mongodb+srv'), 'lists and keys on MongoDB, as mongodb://host/name; unset: embedded', { secret: true }),
  MODELS_DIR: absent('`<data>/models`', text, 'folder of further models, each in a folder of its own'),
  HUB_URL: absent('the public hub', hubUrl, 'address that models are fetched from, for a mirror of your own'),
  PUBLIC_URL: absent('–', publicUrl, 'address under which clients reach the service, as https://live.example.org'),
  BASE_PATH: absent('–', basePath, 'path under which everything is served as well, as /captions'),
  ALLOWED_HOSTS: absent('loopback names and the bound address; any IP address where that is 0.0.0.0 or ::', list(isHost, 'host names'), 'host names that links may be built from'),
  TRUSTED_PROXIES: absent('–', list(isCidr, 'CIDR ranges'), 'addresses of proxies (CIDR) whose X-Forwarded-* or Forwarded headers are believed'),
  CORS_ORIGINS: given('*', list(isOrigin, 'origins'), 'origins whose pages may call the REST interface'),
  WS_ORIGINS: given('*', list(isSocketOrigin, 'origins'), 'origins whose pages may open WebSockets; `null` stands for sandboxed frames, as those of `iframe_html`'),
  FRAME_ANCESTORS: given('*', list(isOrigin, 'origins'), 'origins whose pages may embed captions'),
  AUDIO_URL_ALLOW_CIDRS: absent('–', list(isCidr, 'CIDR ranges'), 'private address ranges (CIDR) that audio URLs may reach beside public ones'),
  SOURCE_ISOLATION: absent(
    'required where the machine can', oneOf('required', 'off'),
    'whether decoders of audio URLs are confined to their pipes. `required`: confined or refused; `off`: never confined; unset: '
      + 'confined where the machine can, else run unconfined with warnings',
  ),
  JWT_TTL: given('24h', duration(1), 'how long a login lasts'),
  PENDING_TIMEOUT: given('60m', duration(0), 'a session that no sender has joined ends after this; 0: never'),
  MAX_DURATION: given('24h', duration(0), 'a session ends after this; 0: never'),
  IDLE_TIMEOUT: given('10m', duration(0), 'a session ends when its sender sends nothing for this long; 0: never'),
  RETENTION_MAX: given('0', duration(0), 'kept transcripts are erased after this; 0: never'),
  DRAIN_TIMEOUT: given('30s', duration(0), 'time that open sessions get when the service stops; 0: none'),
  RECONNECT_GRACE: given('0', duration(0), 'how long a session waits for a sender whose connection broke; 0: it ends'),
  RATE_LIMIT: given(
    '50', integer(0, 1e6),
    'requests a second for each credential, else for each address; twice as many at once; 0: no limits, also for logins and WebSockets',
  ),
  COMPAT_STRICT: given('0', flag, '1: frames and answers hold only the members of the original interface'),
  ROLE: given(
    'all', roles,
    'what this process does: all, or a list of api (REST and sockets), worker (hears sessions) and projector (keeps the lists); with both '
      + 'EVENTSTORE_URL and MONGO_URL',
  ),
  NODE_NAME: absent(
    'made once, kept in DATA_DIR', nodeName, 'name of this process; always `local` with embedded stores',
  ),
  INTERNAL_HOST: absent('HOST', text, 'address of the port for the other processes of the service; with both servers'),
  INTERNAL_PORT: given('0', integer(0, 65535), 'that port; 0 takes a free one'),
  INTERNAL_URL: absent('the bound address', internalUrl, 'host:port under which the other processes reach that port'),
  TAKEOVER_GRACE: absent(
    '60s with both servers, else 0', duration(0),
    'how long a session waits for its sender, or for a worker with room, after its worker was lost; 0: it ends',
  ),
  STREAM_PREFIX: absent(
    '–', streamPrefix, 'stands before every stream name and the names of the databases in MongoDB, so that several services share servers',
  ),
  LEASE_TTL: given('5s', durationWithin(3000, 60_000), 'with MongoDB: a process that is silent for this long counts as lost; 3s to 60s, the same for all'),
  METRICS_TOKEN: absent(
    '–', bearerToken, 'bearer token that `/metrics` and the details of `/health/ready` then ask for; unset: anybody sees them',
    { secret: true },
  ),
  LOG_LEVEL: given('info', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'least important level that is logged; `debug` shows every request on a terminal too'),
} as const

export type SettingName = keyof typeof SETTINGS_TABLE
