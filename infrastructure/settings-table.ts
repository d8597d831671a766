import { isIP } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import { flow } from 'fp-ts/lib/function.js'
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

const serverUrl =
  (...schemes: ReadonlyArray<string>): Parse<string> =>
  (value) =>
    schemes.some((scheme) => value.startsWith(`${scheme}://`)) ? E.right(value) : E.left(`should begin with ${schemes.join(':// or ')}://`)

const eventStoreUrl: Parse<string> = (value) => {
  const connection = parseConnection(value)
  return E.isLeft(connection) ? connection : E.right(value)
}

interface Options {
  readonly secret?: boolean
  /** The only values, as text, that the service can honour yet; every other one is refused, never ignored. */
  readonly only?: ReadonlyArray<string>
}

const row = <A, F>(defaultText: string, fallback: F, parse: Parse<A>, meaning: string, { secret = false, only }: Options) => {
  const honoured = only?.map((value) => JSON.stringify(parse(value)))
  const checked: Parse<A> = (value) => {
    const parsed = parse(value)
    if (honoured === undefined || only === undefined || E.isLeft(parsed) || honoured.includes(JSON.stringify(parsed))) return parsed
    return E.left(`other than ${only.join(' or ')} is not supported yet`)
  }
  const note = only === undefined ? null : 'not supported yet'
  return { defaultText, fallback, parse: checked, meaning, secret, note }
}

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
  HOST: given('127.0.0.1', text, 'bind address'),
  PORT: given('8080', integer(0, 65535), 'port; 0 is a free one, printed at start'),
  DATA_DIR: given('./data', text, 'embedded stores and the master key'),
  ADMIN_USERNAME: absent('–', username, 'name of the first admin, created when there is no administrator; without it a one-time set-up link is printed'),
  ADMIN_PASSWORD: absent('–', text, 'password of the first admin', { secret: true }),
  ADMIN_PASSWORD_FILE: absent('–', text, 'file that holds the password of the first admin'),
  MASTER_KEY_FILE: absent('`<data>/master.key`', text, '32 bytes that wrap the keyring and derive the JWT and HMAC keys; required with EVENTSTORE_URL and MONGO_URL'),
  VRAM_MB: absent('50 % of RAM on CPU', integer(1, 1e9), 'capacity to reserve from, megabytes'),
  OVERCOMMIT: given(
    '1', decimal(0, 100),
    'how many times over the measured compute is given to sessions; one more is refused; 0 = none is refused, the log warns',
  ),
  EVENTSTORE_URL: absent('–', eventStoreUrl, 'EventStoreDB or KurrentDB, as esdb://user:password@host:2113 or kurrentdb://…; unset: embedded', { secret: true }),
  MONGO_URL: absent('–', serverUrl('mongodb', 'mongodb+srv'), 'read models and keyring; unset: embedded', { secret: true }),
  MODELS_DIR: absent('`<data>/models`', text, 'further models: one folder each'),
  HUB_URL: absent('the public hub', hubUrl, 'where `models pull` and the console fetch models from'),
  PUBLIC_URL: absent('–', publicUrl, 'address under which clients reach the service'),
  BASE_PATH: absent('–', basePath, 'further path prefix under which everything is served'),
  ALLOWED_HOSTS: absent('loopback names and the bound address; any IP address where that is 0.0.0.0 or ::', list(isHost, 'host names'), 'Host headers that links may be built from'),
  TRUSTED_PROXIES: absent('–', list(isCidr, 'CIDR ranges'), 'proxies whose X-Forwarded-* or Forwarded headers are believed'),
  CORS_ORIGINS: given('*', list(isOrigin, 'origins'), 'origins whose pages may call the REST interface'),
  WS_ORIGINS: given('*', list(isSocketOrigin, 'origins'), 'origins whose pages may open WebSockets; `null` stands for sandboxed frames, as those of `iframe_html`'),
  FRAME_ANCESTORS: given('*', list(isOrigin, 'origins'), 'origins whose pages may embed a live'),
  AUDIO_URL_ALLOW_CIDRS: absent('–', list(isCidr, 'CIDR ranges'), 'ranges that audio URLs may reach beside public ones'),
  SOURCE_ISOLATION: absent(
    'required where the machine can', oneOf('required', 'off'),
    'decoders of URL sources can open no file and no socket. `required`: they run so or not at all; `off`: they never do; unset: '
      + 'as `required`, but on a machine that cannot isolate them they run without, with warnings',
  ),
  JWT_TTL: given('24h', duration(1), 'life of a login token'),
  PENDING_TIMEOUT: given('60m', duration(0), 'a pending live without sender ends after this; 0 = never'),
  MAX_DURATION: given('24h', duration(0), 'a live ends after this; 0 = never'),
  IDLE_TIMEOUT: given('10m', duration(0), 'an active raw live without frames ends after this; 0 = never'),
  RETENTION_MAX: given('0', duration(0), 'retained transcripts are erased after this; 0 = never'),
  DRAIN_TIMEOUT: given('30s', duration(0), 'time for open lives when the service stops; 0 = at once'),
  RECONNECT_GRACE: given('0', duration(0), 'how long a live waits for a sender lost without FINISH or a clean close; 0 = not at all'),
  RATE_LIMIT: given(
    '50', integer(0, 1e6),
    'requests per second and credential, else per address; twice as many at once; 0 = no such limit, nor those of logins and WebSockets',
  ),
  COMPAT_STRICT: given('0', flag, "1: exactly the interface's members in frames, lives, profiles and transcripts"),
  ROLE: given('all', oneOf('all', 'api', 'worker', 'projector'), 'what this process does', { only: ['all'] }),
  NODE_NAME: absent(
    'made once, kept in DATA_DIR', nodeName, 'name of this process among its peers; always `local` with embedded stores',
  ),
  LEASE_TTL: given('5s', durationWithin(3000, 60_000), 'a process that MongoDB has not heard of for this long is taken for lost; 3s to 60s'),
  LOG_LEVEL: given('info', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'least important level that is logged'),
} as const

export type SettingName = keyof typeof SETTINGS_TABLE

/** The table as README.md shows it. */
export const settingsMarkdown = (): string => {
  const rows = Object.entries(SETTINGS_TABLE).map(
    ([name, { defaultText, meaning, note }]) => `| ${name} | ${defaultText} | ${meaning}${note === null ? '' : ` (${note})`} |\n`,
  )
  return `| name | default | meaning |\n|---|---|---|\n${rows.join('')}`
}
