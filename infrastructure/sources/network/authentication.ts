import { createHash, randomBytes } from 'node:crypto'
import { SourceError } from '../source-error.ts'

/** Who asks, by HTTP's authentication (RFC 7617 Basic, RFC 7616 Digest), which RTSP shares. */
export interface Credentials {
  readonly user: string
  readonly password: string
}

/** As a URL spells it; a stray percent sign stands for itself. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Those in a URL, null for none; throws `unsupported` for what no header can hold (S6). */
export const credentialsOf = ({ username, password }: Pick<URL, 'username' | 'password'>): Credentials | null => {
  if (username === '' && password === '') return null
  const credentials = { user: decoded(username), password: decoded(password) }
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(credentials.user + credentials.password)) throw new SourceError('unsupported')
  return credentials
}

const basicAuthorization = ({ user, password }: Credentials): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

type Parameters = ReadonlyMap<string, string>

interface Challenge {
  readonly scheme: string
  readonly parameters: Parameters
}

/** `Digest realm="…", nonce=…, Basic realm="…"`: a header may hold several challenges. */
const challengesOf = (header: string): ReadonlyArray<Challenge> =>
  [...header.matchAll(/(?:^|,)\s*(basic|digest)\s+((?:[a-z_-]+\s*=\s*(?:"(?:\\.|[^"\\])*"|[^",\s]*)\s*(?:,\s*(?=[a-z_-]+\s*=))?)*)/gi)].map(([, scheme = '', list = '']) => ({
    scheme: scheme.toLowerCase(),
    parameters: new Map([...list.matchAll(/(?<![a-z_-])([a-z_-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^",\s]*))/gi)].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? ''])),
  }))

/** Best first. */
const HASHES: ReadonlyArray<readonly [string, string]> = [['sha-256', 'sha256'], ['md5', 'md5']]

const algorithmOf = (parameters: Parameters): string => (parameters.get('algorithm') ?? 'md5').toLowerCase()

const hashOf = (parameters: Parameters): string | undefined => HASHES.find(([name]) => name === algorithmOf(parameters))?.[1]

const usable = ({ scheme, parameters }: Challenge): boolean =>
  scheme === 'digest' && hashOf(parameters) !== undefined && /(?:^|,)\s*auth\s*(?:,|$)/i.test(parameters.get('qop') ?? 'auth')

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`

const digestAuthorization = (parameters: Parameters, { user, password }: Credentials, method: string, uri: string, count: number): string => {
  const hash = (text: string): string => createHash(hashOf(parameters) ?? 'md5').update(text).digest('hex')
  // Quoted already, as the server escaped them.
  const [realm, nonce] = [parameters.get('realm') ?? '', parameters.get('nonce') ?? '']
  const withQop = parameters.has('qop')
  const [clientNonce, nonceCount] = [randomBytes(8).toString('hex'), count.toString(16).padStart(8, '0')]
  const secret = hash(`${user}:${realm.replace(/\\(.)/g, '$1')}:${password}`)
  const asked = hash(`${method}:${uri}`)
  const response = hash(withQop ? `${secret}:${nonce}:${nonceCount}:${clientNonce}:auth:${asked}` : `${secret}:${nonce}:${asked}`)
  return [
    `Digest username=${quoted(user)}`, `realm="${realm}"`, `nonce="${nonce}"`, `uri="${uri}"`, `response="${response}"`,
    ...(parameters.has('algorithm') ? [`algorithm=${parameters.get('algorithm')}`] : []),
    ...(parameters.has('opaque') ? [`opaque="${parameters.get('opaque')}"`] : []),
    ...(withQop ? ['qop=auth', `nc=${nonceCount}`, `cnonce="${clientNonce}"`] : []),
  ].join(', ')
}

/** Answers the challenges of one server. */
export interface Authentication {
  /** Takes the challenges of a 401; false when asking again with them cannot help. */
  readonly challenged: (headers: ReadonlyArray<string>) => boolean
  /** The Authorization header of a request, null while nothing was asked for. `uri`: as in the request line, without quotes. */
  readonly authorization: (method: string, uri: string) => string | null
}

export const createAuthentication = (credentials: Credentials | null): Authentication => {
  let chosen: Challenge | null = null
  let count = 0

  return {
    challenged: (headers) => {
      if (credentials === null) return false
      const challenges = headers.flatMap(challengesOf)
      const digests = challenges.filter(usable)
      const digest = HASHES.flatMap(([name]) => digests.filter(({ parameters }) => algorithmOf(parameters) === name))[0]
      const next = digest ?? challenges.find(({ scheme }) => scheme === 'basic')
      if (next === undefined) return false
      // The same question again is a no to our answer, unless only the nonce has aged; another realm may know us.
      const again = chosen !== null && chosen.parameters.get('realm') === next.parameters.get('realm')
      const refused = again && !(next.scheme === 'digest' && next.parameters.get('stale')?.toLowerCase() === 'true')
      chosen = next
      count = 0
      return !refused
    },
    authorization: (method, uri) => {
      if (credentials === null || chosen === null) return null
      if (chosen.scheme === 'basic') return basicAuthorization(credentials)
      count += 1
      return digestAuthorization(chosen.parameters, credentials, method, uri, count)
    },
  }
}
