import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { ROLES } from '../../application/ports/members.ts'
import { didYouMean } from '../../domain/shared/nearest-name.ts'
import { type SettingName, SETTINGS_TABLE } from './table.ts'

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<S>

type ValueOf<N extends SettingName> =
  | (typeof SETTINGS_TABLE)[N]['fallback']
  | ((typeof SETTINGS_TABLE)[N]['parse'] extends (text: string) => E.Either<string, infer A> ? A : never)

/** The settings under their names in camel case (`MODELS_DIR` is `modelsDir`); durations are in milliseconds. */
export type Settings = { readonly [N in SettingName as Camel<N>]: ValueOf<N> }

const PREFIX = 'STENOLOG_'
/** Read by the test suites only. */
const TEST_PREFIX = `${PREFIX}TEST_`

/** Node reads each invalid byte of a variable as this character. */
const INVALID_UTF8 = '\ufffd'

const names = Object.keys(SETTINGS_TABLE) as ReadonlyArray<SettingName>

const isKnown = (name: string): boolean => Object.hasOwn(SETTINGS_TABLE, name)

const camel = (name: string): string =>
  name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Ends an error message with the wrong value. Omits values that may be URLs with secrets, and long values. */
const notValue = (text: string): string =>
  /[@?#\p{C}]/u.test(text) || text.length > 60 ? '' : `, not ${JSON.stringify(text)}`

const readOne = (name: SettingName, text: string | undefined): E.Either<string, unknown> => {
  const { fallback, parse, secret } = SETTINGS_TABLE[name]
  if (text === undefined || text === '') return E.right(fallback)
  if (text.includes(INVALID_UTF8)) return E.left(`${PREFIX}${name} is not text in UTF-8`)
  const parsed: E.Either<string, unknown> = parse(text)
  if (E.isRight(parsed)) return parsed
  // `, not "value"` reads well only after `should be …`.
  const hidesValue = secret || !parsed.left.startsWith('should be ')
  return E.left(`${PREFIX}${name} ${parsed.left}${hidesValue ? '' : notValue(text)}`)
}

type Stores = Pick<Settings, 'eventstoreUrl' | 'mongoUrl'>

/** Whether both stores are on servers. Only then can several processes share them. */
export const hasServers = ({ eventstoreUrl, mongoUrl }: Stores): boolean => eventstoreUrl !== null && mongoUrl !== null

/** TAKEOVER_GRACE in milliseconds; 0 with embedded stores, where no other process can take over. */
export const takeoverGraceOf = (settings: Stores & Pick<Settings, 'takeoverGrace'>): number =>
  hasServers(settings) ? (settings.takeoverGrace ?? 60_000) : 0

const masterKeyMissing = (server: SettingName): string =>
  `${PREFIX}${server} needs ${PREFIX}MASTER_KEY_FILE: create a key once with "head -c 32 /dev/urandom > master.key"`

/** Returns an error for each combination of settings that is not allowed. */
const contradictions = (settings: Settings): ReadonlyArray<string> => [
  ...(settings.adminPassword !== null && settings.adminPasswordFile !== null
    ? [`${PREFIX}ADMIN_PASSWORD and ${PREFIX}ADMIN_PASSWORD_FILE are both set: remove one of them`]
    : []),
  ...((settings.adminPassword !== null || settings.adminPasswordFile !== null) && settings.adminUsername === null
    ? [`${PREFIX}ADMIN_USERNAME is not set: the first administrator needs a name and a password`]
    : []),
  ...(settings.adminUsername !== null && settings.adminPassword === null && settings.adminPasswordFile === null
    ? [`${PREFIX}ADMIN_USERNAME needs a password: set ${PREFIX}ADMIN_PASSWORD_FILE or ${PREFIX}ADMIN_PASSWORD`]
    : []),
  ...(settings.role.length < ROLES.length && !hasServers(settings)
    ? [`${PREFIX}ROLE needs ${PREFIX}EVENTSTORE_URL and ${PREFIX}MONGO_URL: set both, or use ${PREFIX}ROLE=all`]
    : []),
  // Data on a server must not depend on a key that was generated silently in the data directory.
  ...(settings.masterKeyFile === null && settings.eventstoreUrl !== null ? [masterKeyMissing('EVENTSTORE_URL')] : []),
  ...(settings.masterKeyFile === null && settings.mongoUrl !== null ? [masterKeyMissing('MONGO_URL')] : []),
]

/** Reads the settings from environment variables. An empty value counts as not set. Left: every error. */
export const readSettings = (
  env: Readonly<Record<string, string | undefined>>,
): E.Either<ReadonlyArray<string>, Settings> => {
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !isKnown(name.slice(PREFIX.length)))
    .map((name) => `Unknown setting ${name}.${didYouMean(name.slice(PREFIX.length), names, (known) => PREFIX + known)}`)
  const results = names.map((name) => [name, readOne(name, env[`${PREFIX}${name}`])] as const)
  const wrong = results.flatMap(([, result]) => (E.isLeft(result) ? [result.left] : []))
  if (unknown.length + wrong.length > 0) return E.left([...unknown, ...wrong])
  const values = results.flatMap(([name, result]) => (E.isRight(result) ? [[camel(name), result.right] as const] : []))
  const settings = Object.fromEntries(values) as Settings
  const broken = contradictions(settings)
  return broken.length > 0 ? E.left(broken) : E.right(settings)
}

/** Returns the folder of additional models, which may not exist. */
export const modelsDirOf = ({ modelsDir, dataDir }: Pick<Settings, 'modelsDir' | 'dataDir'>): string =>
  modelsDir ?? join(dataDir, 'models')
