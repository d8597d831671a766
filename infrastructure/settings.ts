import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { ROLES } from '../application/ports/peers/members.ts'
import { didYouMean } from '../domain/shared/nearest-name.ts'
import { SETTINGS_TABLE } from './settings-table.ts'
import type { SettingName } from './settings-table.ts'

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}` : Lowercase<S>

type ValueOf<N extends SettingName> =
  | (typeof SETTINGS_TABLE)[N]['fallback']
  | ((typeof SETTINGS_TABLE)[N]['parse'] extends (text: string) => E.Either<string, infer A> ? A : never)

/** The settings under their names in camel case (`MODELS_DIR` is `modelsDir`); durations are in milliseconds. */
export type Settings = { readonly [N in SettingName as Camel<N>]: ValueOf<N> }

const PREFIX = 'STENOLOG_'
/** Read by the test suites only. */
const TEST_PREFIX = `${PREFIX}TEST_`

const names = Object.keys(SETTINGS_TABLE) as ReadonlyArray<SettingName>

const isKnown = (name: string): boolean => Object.hasOwn(SETTINGS_TABLE, name)

const camel = (name: string): string => name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Addresses may hold passwords and tokens: those with a user or a query are not repeated. */
const given = (text: string): string => (/[@?#\p{C}]/u.test(text) || text.length > 60 ? '' : `, not ${JSON.stringify(text)}`)

const readOne = (name: SettingName, text: string | undefined): E.Either<string, unknown> => {
  const { fallback, parse, secret } = SETTINGS_TABLE[name]
  if (text === undefined || text === '') return E.right(fallback)
  const parsed = parse(text)
  return E.isLeft(parsed) ? E.left(`${PREFIX}${name} ${parsed.left}${secret || !parsed.left.startsWith('should be ') ? '' : given(text)}`) : parsed
}

type Stores = Pick<Settings, 'eventstoreUrl' | 'mongoUrl'>

/** Whether both stores are on servers, which several processes may share. */
export const hasServers = ({ eventstoreUrl, mongoUrl }: Stores): boolean => eventstoreUrl !== null && mongoUrl !== null

/** Milliseconds: TAKEOVER_GRACE, which means nothing where nobody can take over. */
export const takeoverGraceOf = (settings: Stores & Pick<Settings, 'takeoverGrace'>): number =>
  hasServers(settings) ? (settings.takeoverGrace ?? 60_000) : 0

/** Rules between settings. */
const contradictions = (settings: Settings): ReadonlyArray<string> => [
  ...(settings.adminPassword !== null && settings.adminPasswordFile !== null
    ? [`${PREFIX}ADMIN_PASSWORD and ${PREFIX}ADMIN_PASSWORD_FILE exclude each other`]
    : []),
  ...((settings.adminPassword !== null || settings.adminPasswordFile !== null) && settings.adminUsername === null
    ? [`${PREFIX}ADMIN_USERNAME is missing beside the password`]
    : []),
  ...(settings.adminUsername !== null && settings.adminPassword === null && settings.adminPasswordFile === null
    ? [`${PREFIX}ADMIN_PASSWORD or ${PREFIX}ADMIN_PASSWORD_FILE is missing beside ${PREFIX}ADMIN_USERNAME`]
    : []),
  ...(settings.role.length < ROLES.length && !hasServers(settings)
    ? [`${PREFIX}ROLE other than all needs ${PREFIX}EVENTSTORE_URL and ${PREFIX}MONGO_URL`]
    : []),
  // What lies elsewhere must not depend on a key in a file that nobody knows of.
  ...(settings.masterKeyFile === null
    ? [
        ...(settings.eventstoreUrl === null ? [] : [`${PREFIX}MASTER_KEY_FILE is missing beside ${PREFIX}EVENTSTORE_URL`]),
        ...(settings.mongoUrl === null ? [] : [`${PREFIX}MASTER_KEY_FILE is missing beside ${PREFIX}MONGO_URL`]),
      ]
    : []),
]

/** The settings of the environment, or everything that is wrong with them. An empty value counts as not set. */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): E.Either<ReadonlyArray<string>, Settings> => {
  const unknown = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !isKnown(name.slice(PREFIX.length)))
    .map((name) => `Unknown setting ${name}.${didYouMean(name.slice(PREFIX.length), names, (known) => PREFIX + known)}`)
  const results = names.map((name) => [name, readOne(name, env[`${PREFIX}${name}`])] as const)
  const wrong = results.flatMap(([, result]) => (E.isLeft(result) ? [result.left] : []))
  if (unknown.length + wrong.length > 0) return E.left([...unknown, ...wrong])
  const values = results.flatMap(([name, result]) => (E.isRight(result) ? [[camel(name), result.right] as const] : []))
  const settings = Object.fromEntries(values) as Settings
  const between = contradictions(settings)
  return between.length > 0 ? E.left(between) : E.right(settings)
}

/** Where further models lie, whether it is there or not. */
export const modelsDirOf = ({ modelsDir, dataDir }: Pick<Settings, 'modelsDir' | 'dataDir'>): string =>
  modelsDir ?? join(dataDir, 'models')

/** For print-outs: secrets are masked. */
export const describeSettings = (settings: Settings): Readonly<Record<string, unknown>> => {
  const secrets = new Set<string>(names.filter((name) => SETTINGS_TABLE[name].secret).map(camel))
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, secrets.has(name) && value !== null ? '***' : value]))
}
