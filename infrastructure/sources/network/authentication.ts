import { createHash, randomBytes } from 'node:crypto'
import { SourceError } from '../source-error.ts'

/** The account for HTTP authentication (RFC 7617 Basic, RFC 7616 Digest), which RTSP uses as well. */
export interface Credentials {
  readonly user: string
  readonly password: string
}

/** Decodes percent-encoding. Text with an invalid percent sign stays as it is. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the credentials of a URL, or null. Throws `unsupported` when a header cannot contain them. */
export const credentialsOf = ({ username, password }: Pick<URL, 'username' | 'password'>): Credentials | null => {
  if (username === '' && password === '') return null
  const credentials = { user: decoded(username), password: decoded(password) }
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(credentials.user + credentials.password)) throw new SourceError('unsupported')
  return credentials
}

const basicAuthorization = ({ user, password }: Credentials): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

type Parameters = ReadonlyMap<string, string>

interface Challenge {
  readonly scheme: string
  readonly parameters: Parameters
}

/** A scheme and its parameters. */
const CHALLENGE =
  /(?:^|,)\s*(basic|digest)\s+((?:[a-z_-]+\s*=\s*(?:"(?:\\.|[^"\\])*"|[^",\s]*)\s*(?:,\s*(?=[a-z_-]+\s*=))?)*)/gi
/** A parameter: name, and quoted or plain value. */
const PARAMETER = /(?<![a-z_-])([a-z_-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^",\s]*))/gi

const parametersOf = (list: string): Parameters =>
  new Map([...list.matchAll(PARAMETER)].map(([, name = '', quotedValue, plain]) =>
    [name.toLowerCase(), quotedValue ?? plain ?? '']))

/** Parses a header, which may contain several challenges: `Digest realm="…", nonce=…, Basic realm="…"`. */
const challengesOf = (header: string): ReadonlyArray<Challenge> =>
  [...header.matchAll(CHALLENGE)].map(([, scheme = '', list = '']) =>
    ({ scheme: scheme.toLowerCase(), parameters: parametersOf(list) }))

/** Hash algorithms, the best one first. */
const HASHES: ReadonlyArray<readonly [string, string]> = [['sha-256', 'sha256'], ['md5', 'md5']]

const algorithmOf = (parameters: Parameters): string => (parameters.get('algorithm') ?? 'md5').toLowerCase()

const hashOf = (parameters: Parameters): string | undefined =>
  HASHES.find(([name]) => name === algorithmOf(parameters))?.[1]

const isUsableDigest = ({ scheme, parameters }: Challenge): boolean =>
  scheme === 'digest'
  && hashOf(parameters) !== undefined
  && /(?:^|,)\s*auth\s*(?:,|$)/i.test(parameters.get('qop') ?? 'auth')

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`

const digestAuthorization = (
  parameters: Parameters,
  { user, password }: Credentials,
  method: string,
  uri: string,
  count: number,
): string => {
  const hash = (text: string): string => createHash(hashOf(parameters) ?? 'md5').update(text).digest('hex')
  // These values keep the escapes of the server.
  const [realm, nonce] = [parameters.get('realm') ?? '', parameters.get('nonce') ?? '']
  const withQop = parameters.has('qop')
  const [clientNonce, nonceCount] = [randomBytes(8).toString('hex'), count.toString(16).padStart(8, '0')]
  const secret = hash(`${user}:${realm.replace(/\\(.)/g, '$1')}:${password}`)
  const request = hash(`${method}:${uri}`)
  const middle = withQop ? `${nonce}:${nonceCount}:${clientNonce}:auth` : nonce
  const response = hash(`${secret}:${middle}:${request}`)
  return [
    `Digest username=${quoted(user)}`, `realm="${realm}"`, `nonce="${nonce}"`, `uri="${uri}"`,
    `response="${response}"`,
    ...(parameters.has('algorithm') ? [`algorithm=${parameters.get('algorithm')}`] : []),
    ...(parameters.has('opaque') ? [`opaque="${parameters.get('opaque')}"`] : []),
    ...(withQop ? ['qop=auth', `nc=${nonceCount}`, `cnonce="${clientNonce}"`] : []),
  ].join(', ')
}

/** Authentication at one server. */
export interface Authentication {
  /** Takes the challenges of a 401. Returns false when another request cannot succeed. */
  readonly challenged: (headers: ReadonlyArray<string>) => boolean
  /**
   * Returns the Authorization header of a request, or null before the first challenge. `uri`: as in the request line,
   * without quotation marks.
   */
  readonly authorization: (method: string, uri: string) => string | null
}

export const createAuthentication = (credentials: Credentials | null): Authentication => {
  let chosen: Challenge | null = null
  let count = 0

  return {
    challenged: (headers) => {
      if (credentials === null) return false
      const challenges = headers.flatMap(challengesOf)
      const digests = challenges.filter(isUsableDigest)
      const digest = HASHES.flatMap(([name]) => digests.filter(({ parameters }) => algorithmOf(parameters) === name))[0]
      const next = digest ?? challenges.find(({ scheme }) => scheme === 'basic')
      if (next === undefined) return false
      // A second challenge of the same realm means that our answer was refused, unless only the nonce has expired.
      const isRepeated = chosen !== null && chosen.parameters.get('realm') === next.parameters.get('realm')
      const isStale = next.scheme === 'digest' && next.parameters.get('stale')?.toLowerCase() === 'true'
      chosen = next
      count = 0
      return !isRepeated || isStale
    },
    authorization: (method, uri) => {
      if (credentials === null || chosen === null) return null
      if (chosen.scheme === 'basic') return basicAuthorization(credentials)
      count += 1
      return digestAuthorization(chosen.parameters, credentials, method, uri, count)
    },
  }
}
