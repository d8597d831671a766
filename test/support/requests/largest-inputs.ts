import type * as t from 'io-ts'
import { memberNames } from '../../../interfaces/http/codecs/shapes.ts'
import type { Route } from '../../../interfaces/http/route.ts'
import { valueOf, type Size } from './codec-values.ts'

/** A request without credentials. */
export interface RequestInput {
  /** What is large in it. */
  readonly name: string
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Node reads at most 16 KiB of path, query and headers. Credentials and the client's own headers need the rest. */
const HEAD_BYTES = 14_500
const BODY_BYTES = { json: 65_000, form: 8000 }
const MEDIA_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' }

type Members = Readonly<Record<string, unknown>>

const membersOf = (codec: t.Mixed | undefined, size: Size): Members =>
  codec === undefined ? {} : valueOf(codec, size) as Members

/** As many different short names as fit into `bytes`, with this text after each of them. */
const namesIn = (bytes: number, after: string): string => {
  let text = ''
  for (let n = 0; text.length < bytes - 12; n += 1) text += `${n.toString(36)}${after}`
  return text
}

const queryText = (values: Members): string =>
  Object.entries(values)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${encodeURIComponent(String(one))}`)).join('&')

const pathOf = ({ path, params }: Route, size: Size): string =>
  Object.entries(membersOf(params, size)).reduce(
    (filled, [name, value]) => filled.replace(`:${name}`, String(value)).replace(`*${name}`, String(value)),
    path.replaceAll(/[{}]/g, ''),
  )

const bodyText = ({ body }: Route, values: Members): string | null => {
  if (body === undefined) return null
  if (body.kind === 'json') return JSON.stringify(values)
  return new URLSearchParams(values as Record<string, string>).toString()
}

const inputOf = (route: Route, name: string, size: Size, members: Partial<RequestInput> = {}): RequestInput => {
  const query = queryText(membersOf(route.query, size))
  const media = route.body === undefined ? {} : { 'content-type': MEDIA_TYPES[route.body.kind] }
  return {
    name, method: route.method, target: `${pathOf(route, 'smallest')}?${query}`, headers: media,
    body: bodyText(route, membersOf(route.body?.codec, size)), ...members,
  }
}

/** Returns the smallest valid request of a route. */
export const smallestInput = (route: Route): RequestInput => inputOf(route, 'smallest', 'smallest')

const largeHeads = (route: Route): ReadonlyArray<RequestInput> => {
  const { target, headers } = inputOf(route, '', 'smallest')
  const [first = 'unknown'] = route.query === undefined ? [] : memberNames(route.query)
  const rest = HEAD_BYTES - target.length
  const repeated = `${first}=1&`
  const escaped = `%41${first.slice(1)}&`
  const digits = '9'.repeat(rest)
  const known = Object.entries(membersOf(route.headers, 'largest')).map(([name, value]) =>
    [name, String(value).replaceAll('🎙', 'x').slice(0, rest)] as const)
  return [
    inputOf(route, 'names in the query', 'smallest', { target: `${target}&${namesIn(rest, '&')}` }),
    inputOf(route, 'escaped names in the query', 'smallest', {
      target: `${target}&${escaped.repeat(rest / escaped.length)}`,
    }),
    inputOf(route, 'repetitions in the query', 'smallest', {
      target: `${target}&${repeated.repeat(rest / repeated.length)}`,
    }),
    ...(known.length === 0 ? [] : [
      inputOf(route, 'headers', 'smallest', { headers: { ...headers, ...Object.fromEntries(known) } }),
    ]),
    ...(route.params === undefined ? [] : [
      inputOf(route, 'path', 'smallest', {
        target: route.path.replaceAll(/[{}]/g, '').replaceAll(/[:*]\w+/g, digits.slice(0, rest / 4)),
      }),
    ]),
  ]
}

/** Every member has a value of a wrong type: a long list. */
const wrongMembers = (codec: t.Mixed, bytes: number): Members => {
  const names = memberNames(codec)
  const list = Array.from({ length: Math.floor(bytes / names.length / 2) - 10 }, () => 1)
  return Object.fromEntries(names.map((name) => [name, list]))
}

const padded = (json: string, bytes: number): string => {
  const names = namesIn(bytes - json.length - 20, '":0,"')
  return `${json.slice(0, -1)}${json === '{}' ? '' : ','}"${names}":0}`
}

/** Halves all lists and long texts until `text` returns at most `bytes`. */
const fitting = (values: unknown, bytes: number, text: (values: Members) => string): string => {
  const written = text(values as Members)
  if (Buffer.byteLength(written) <= bytes) return written
  const halved: unknown = JSON.parse(JSON.stringify(values), (_, value: unknown) =>
    Array.isArray(value) || (typeof value === 'string' && value.length > 256)
      ? value.slice(0, Math.ceil(value.length / 4) * 2) : value)
  return fitting(halved, bytes, text)
}

const largeBodies = (route: Route): ReadonlyArray<RequestInput> => {
  if (route.body === undefined) return []
  const { kind, codec } = route.body
  const bytes = BODY_BYTES[kind]
  const largest = inputOf(route, 'members of the body', 'largest')
  const text = fitting(membersOf(codec, 'largest'), bytes, (values) => bodyText(route, values) ?? '')
  if (kind === 'form')
    return [{ ...largest, body: text }, { ...largest, name: 'names in the form', body: namesIn(bytes, '=1&') }]
  const free = bytes - Buffer.byteLength(text)
  return [
    { ...largest, body: free > 40 ? padded(text, text.length + free) : text },
    { ...largest, name: 'wrong members of the body', body: JSON.stringify(wrongMembers(codec, bytes)) },
  ]
}

/** Returns the largest inputs of a route: of its query, headers, path and body. A soak test may send them too. */
export const largestInputs = (route: Route): ReadonlyArray<RequestInput> =>
  [...largeHeads(route), ...largeBodies(route)]
