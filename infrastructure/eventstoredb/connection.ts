import * as E from 'fp-ts/lib/Either.js'

export interface Connection {
  /** For the client: what was given, with the keep-alive that notices a frozen server. */
  readonly connectionString: string
  /**
   * Sent with every call; without them the client appends over one shared stream that ignores deadlines and ends the
   * process when the connection drops. An insecure server ignores their value.
   */
  readonly credentials: { readonly username: string; readonly password: string }
}

/** The schemes of the server under its older and its newer name, which mean the same; our client knows `esdb` alone. */
const SHAPE = /^(?:esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\/(?:([^:@/?]+):([^:@/?]+)@)?([^@/?]+)\/?(?:\?(.+))?$/
const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/

/** The client prints a string with an option that it does not know, password and all: none may reach it. */
const OPTIONS: ReadonlySet<string> = new Set([
  'tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'connectionName',
  'keepAliveInterval', 'keepAliveTimeout',
])

/**
 * Milliseconds between pings, and until one counts as unanswered: subscriptions have no other way to notice a dead server.
 * Less than seconds for an answer would cut the connection of a process that is short of processor time.
 */
const KEEP_ALIVE = { keepAliveInterval: '2000', keepAliveTimeout: '4000' }

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

const optionsOf = (query: string): E.Either<string, ReadonlyMap<string, string>> => {
  const options = new Map<string, string>()
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', value = ''] = pair.split('=')
    if (!OPTIONS.has(name)) return E.left(`may have the options ${[...OPTIONS].join(', ')} and no others`)
    if (value === '') return E.left(`lacks a value for its option ${name}`)
    options.set(name, value)
  }
  const tls = options.get('tls') ?? 'true'
  return tls === 'true' || tls === 'false' ? E.right(options) : E.left('should have tls=true or tls=false')
}

/** The account in a URL; a server without TLS needs none, and gets one that it ignores. */
const credentialsOf = (rawUser: string | undefined, rawPassword: string | undefined, isSecure: boolean): E.Either<string, Connection['credentials']> => {
  if (rawUser === undefined || rawPassword === undefined)
    return isSecure
      ? E.left('should hold user:password@ (or tls=false for a server without both)')
      : E.right({ username: 'none', password: 'none' })
  const [username, password] = [decoded(rawUser), decoded(rawPassword)]
  return username === null || password === null
    ? E.left('has a user or password that is not percent-encoded')
    : E.right({ username, password })
}

/** The connection that a setting describes, or what is wrong with it, to be read after the setting's name; it never repeats the value. */
export const parseConnection = (text: string): E.Either<string, Connection> => {
  const shape = SHAPE.exec(text.trim())
  const [, discover = '', rawUser, rawPassword, hosts = '', query = ''] = shape ?? []
  if (shape === null || !hosts.split(',').every((host) => HOST.test(host)))
    return E.left(
      'should look like esdb://user:password@host:2113?option=value, special characters percent-encoded ' +
        '(kurrentdb://, kurrent:// and kdb:// mean the same, each also with +discover)',
    )
  const options = optionsOf(query)
  if (E.isLeft(options)) return options
  const credentials = credentialsOf(rawUser, rawPassword, options.right.get('tls') !== 'false')
  if (E.isLeft(credentials)) return credentials
  const all = new URLSearchParams(Object.entries({ ...KEEP_ALIVE, ...Object.fromEntries(options.right) }))
  const userInfo = rawUser === undefined || rawPassword === undefined ? '' : `${rawUser}:${rawPassword}@`
  return E.right({
    connectionString: `esdb${discover}://${userInfo}${hosts}?${[...all].map(([name, value]) => `${name}=${value}`).join('&')}`,
    credentials: credentials.right,
  })
}
