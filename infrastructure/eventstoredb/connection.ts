import * as E from 'fp-ts/lib/Either.js'

/** The address of a node, for HTTP and gRPC. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The DNS name that resolved to `host`, if any. */
  readonly alias?: string
}

export interface Connection {
  readonly hosts: ReadonlyArray<Address>
  /** True for `+discover`: the first host is a DNS name, and each of its IP addresses is a node. */
  readonly discovers: boolean
  /** Paths of certificate files; null for a server without TLS. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  /**
   * Sent with every call, because without credentials the client appends over one shared gRPC stream. That stream
   * ignores deadlines, and the process ends when its connection is lost. A server without TLS ignores the value.
   */
  readonly credentials: { readonly username: string; readonly password: string }
  /** Milliseconds between pings during a call, and until a ping counts as unanswered. Absent: the client's default. */
  readonly keepAlive: { readonly keepAliveInterval?: number; readonly keepAliveTimeout?: number }
  readonly connectionName?: string
}

/** The schemes of EventStoreDB and of its newer name KurrentDB are equivalent. */
const CONNECTION_STRING =
  /^(?:esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\/(?:([^:@/?]+):([^:@/?]+)@)?([^@/?]+)\/?(?:\?(.+))?$/
const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/

/** Numeric options. The first three are accepted and ignored, because this adapter searches for the leader itself. */
const NUMERIC_OPTIONS: ReadonlySet<string> = new Set([
  'maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'keepAliveInterval', 'keepAliveTimeout',
])

/** The options that the official client accepts. */
const OPTIONS: ReadonlySet<string> = new Set([
  'tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', ...NUMERIC_OPTIONS,
])

const DEFAULT_PORT = 2113

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

type Options = ReadonlyMap<string, string>

const optionsOf = (query: string): E.Either<string, Options> => {
  const options = new Map<string, string>()
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', raw = ''] = pair.split('=')
    if (!OPTIONS.has(name)) return E.left(`has an unknown option. Known options: ${[...OPTIONS].join(', ')}`)
    const value = decoded(raw)
    if (value === null || value === '') return E.left(`has no value for the option ${name}`)
    if (NUMERIC_OPTIONS.has(name) && !/^(?:-1|\d{1,9})$/.test(value))
      return E.left(`should have a number for the option ${name}`)
    options.set(name, value)
  }
  const tls = options.get('tls') ?? 'true'
  if (tls !== 'true' && tls !== 'false') return E.left('should have tls=true or tls=false')
  if (options.has('userCertFile') !== options.has('userKeyFile'))
    return E.left('should have both userCertFile and userKeyFile, or neither')
  return E.right(options)
}

/** Returns the credentials of a URL, or placeholders, because a server without TLS needs and checks no credentials. */
const credentialsOf = (
  rawUser: string | undefined,
  rawPassword: string | undefined,
  isSecure: boolean,
): E.Either<string, Connection['credentials']> => {
  if (rawUser === undefined || rawPassword === undefined)
    return isSecure
      ? E.left('should contain user:password@, or tls=false for a server without TLS and accounts')
      : E.right({ username: 'none', password: 'none' })
  const [username, password] = [decoded(rawUser), decoded(rawPassword)]
  return username === null || password === null
    ? E.left('has a user or password that is not percent-encoded')
    : E.right({ username, password })
}

const toAddress = (text: string): Address => {
  const [host = '', port] = text.split(':')
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) }
}

type Present<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

/** Removes the undefined members. */
const withoutUndefined = <A extends object>(all: A): Present<A> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Present<A>

/**
 * Parses a connection string. Left: the problem, worded to follow the name of the setting, without the value, which
 * contains a password.
 */
export const parseConnection = (text: string): E.Either<string, Connection> => {
  const match = CONNECTION_STRING.exec(text.trim())
  const [, discover = '', rawUser, rawPassword, hosts = '', query = ''] = match ?? []
  if (match === null || !hosts.split(',').every((host) => HOST.test(host)))
    return E.left(
      'should look like esdb://user:password@host:2113?option=value, with special characters percent-encoded '
        + '(kurrentdb://, kurrent:// and kdb:// are equivalent; each scheme also accepts +discover)',
    )
  const options = optionsOf(query)
  if (E.isLeft(options)) return options
  const isSecure = options.right.get('tls') !== 'false'
  const credentials = credentialsOf(rawUser, rawPassword, isSecure)
  if (E.isLeft(credentials)) return credentials
  const numberOf = (name: string): number | undefined => {
    const value = options.right.get(name)
    return value === undefined ? undefined : Number(value)
  }
  const certificates = withoutUndefined({
    ca: options.right.get('tlsCAFile'),
    cert: options.right.get('userCertFile'),
    key: options.right.get('userKeyFile'),
  })
  return E.right({
    hosts: hosts.split(',').map(toAddress),
    discovers: discover !== '',
    tls: isSecure ? certificates : null,
    credentials: credentials.right,
    keepAlive: withoutUndefined({
      keepAliveInterval: numberOf('keepAliveInterval'), keepAliveTimeout: numberOf('keepAliveTimeout'),
    }),
    ...withoutUndefined({ connectionName: options.right.get('connectionName') }),
  })
}
