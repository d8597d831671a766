import { isIP } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import { flow } from 'fp-ts/lib/function.js'
import { type Role, ROLES } from '../../application/ports/members.ts'
import { nameProblem } from '../../domain/shared/names.ts'
import { parseConnection } from '../eventstoredb/connection.ts'

/** Reads a setting. Left: the problem, worded to follow the name of the setting, without the value. */
export type Parse<A> = (text: string) => E.Either<string, A>

export const text: Parse<string> = (value) => E.right(value)

export const username: Parse<string> = (value) => {
  const problem = nameProblem(value)
  return problem === null ? E.right(value) : E.left(problem)
}

export const integer =
  (min: number, max: number): Parse<number> =>
  (value) =>
    /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? E.right(Number(value))
      : E.left(`should be an integer from ${min} to ${max}`)

export const decimal =
  (min: number, max: number): Parse<number> =>
  (value) =>
    /^\d{1,6}(?:\.\d{1,6})?$/.test(value) && Number(value) >= min && Number(value) <= max
      ? E.right(Number(value))
      : E.left(`should be a number from ${min} to ${max}`)

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }

/** Restricted because the name of a node appears in log lines, documents and error messages. */
export const nodeName: Parse<string> = (value) =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value)
    ? E.right(value)
    : E.left('should be 1 to 63 letters, digits, dots, dashes and underscores, starting with a letter or digit')

/** Milliseconds. `min` is 1 for settings in which 0 has no meaning, otherwise 0. */
export const duration =
  (min: number): Parse<number> =>
  (value) => {
    const match = /^(\d{1,9})([smh]?)$/.exec(value)
    const amount = Number(match?.[1])
    const unit = UNITS[match?.[2] ?? '']
    if (match === null || (unit === undefined && amount !== 0))
      return E.left('should be a duration like 30s, 60m or 24h')
    const milliseconds = amount * (unit ?? 0)
    return milliseconds < min ? E.left('should be greater than 0') : E.right(milliseconds)
  }

/** Milliseconds from `min` to `max`. */
export const durationWithin = (min: number, max: number): Parse<number> =>
  flow(duration(0), E.filterOrElse(
    (milliseconds) => milliseconds >= min && milliseconds <= max,
    () => `should be a duration from ${min / 1000}s to ${max / 1000}s`,
  ))

export const flag: Parse<boolean> = (value) =>
  value === '0' || value === '1' ? E.right(value === '1') : E.left('should be 0 or 1')

export const oneOf =
  <const V extends string>(...values: ReadonlyArray<V>): Parse<V> =>
  (value) => {
    const found = values.find((candidate) => candidate === value)
    return found === undefined ? E.left(`should be one of ${values.join(', ')}`) : E.right(found)
  }

export const list =
  (isItem: (item: string) => boolean, pluralNoun: string): Parse<ReadonlyArray<string>> =>
  (value) => {
    const parts = value.split(',').map((item) => item.trim())
    return parts.every(isItem) ? E.right(parts) : E.left(`should be a comma-separated list of ${pluralNoun}`)
  }

export const isCidr = (item: string): boolean => {
  const [address = '', prefix, ...rest] = item.split('/')
  const family = isIP(address)
  if (family === 0 || prefix === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false
  return Number(prefix) <= (family === 4 ? 32 : 128)
}

export const isOrigin = (item: string): boolean => item === '*' || (URL.canParse(item) && new URL(item).origin === item)

/** Browsers send the origin `null` for pages in a sandboxed frame. */
export const isSocketOrigin = (item: string): boolean => item === 'null' || isOrigin(item)

export const isHost = (item: string): boolean =>
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*)|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(item)

export const publicUrl: Parse<string> = (value) => {
  const url = URL.parse(value)
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain && ['http:', 'https:'].includes(url.protocol)
    ? E.right(`${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`)
    : E.left('should be an http or https URL without credentials, query and fragment')
}

export const hubUrl: Parse<string> = (value) =>
  ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')
    ? E.right(value)
    : E.left('should be an http or https URL')

export const basePath: Parse<string> = (value) =>
  /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(value)
    ? E.right(value.replace(/\/$/, ''))
    : E.left('should be a path like /stenolog')

/** A token for the header Authorization. The request limits make guessing 16 characters hopeless. */
export const bearerToken: Parse<string> = (value) =>
  /^[A-Za-z0-9._~+/-]{16,512}=*$/.test(value)
    ? E.right(value)
    : E.left('should be 16 or more letters, digits and characters of ._~+/-')

export const serverUrl =
  (...schemes: ReadonlyArray<string>): Parse<string> =>
  (value) =>
    schemes.some((scheme) => value.startsWith(`${scheme}://`))
      ? E.right(value)
      : E.left(`should start with ${schemes.join(':// or ')}://`)

export const eventStoreUrl: Parse<string> = (value) => {
  const connection = parseConnection(value)
  return E.isLeft(connection) ? connection : E.right(value)
}

const isRole = (item: string): item is Role => (ROLES as ReadonlyArray<string>).includes(item)

/** `all`, or a list of roles. */
export const roles: Parse<ReadonlyArray<Role>> = (value) => {
  const items = value.split(',').map((item) => item.trim())
  if (items.includes('all')) return E.right(ROLES)
  return items.every(isRole)
    ? E.right(ROLES.filter((role) => items.includes(role)))
    : E.left(`should be all, or a comma-separated list of ${ROLES.join(', ')}`)
}

/** `host:port`; a leading `https://` is removed. */
export const internalUrl: Parse<string> = (value) => {
  const address = value.replace(/^https:\/\//, '').replace(/\/$/, '')
  return isHost(address) && /:\d{1,5}$/.test(address) ? E.right(address) : E.left('should be host:port')
}

/** Excludes the separator `.`, so prefixed and unprefixed stream names never collide. */
export const streamPrefix: Parse<string> = (value) =>
  /^[a-z0-9][a-z0-9_-]{0,30}$/.test(value)
    ? E.right(value)
    : E.left('should be 1 to 31 lowercase letters, digits, dashes and underscores, starting with a letter or digit')
