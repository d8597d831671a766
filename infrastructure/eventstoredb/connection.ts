import * as E from 'fp-ts/lib/Either.js'

/** Where a node answers, HTTP and gRPC alike. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The name under which it was found, where `host` is one of that name's numbers. */
  readonly alias?: string
}

export interface Connection {
  readonly hosts: ReadonlyArray<Address>
  /** Whether the first host is a name, and each of its numbers a node (`+discover`). */
  readonly discovers: boolean
  /** Paths of certificate files; null for a server without TLS. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | null
  /**
   * Sent with every call; without them the client appends over one shared stream that ignores deadlines and ends the
   * process when the connection drops. An insecure server ignores their value.
   */
  readonly credentials: { readonly username: string; readonly password: string }
  /** Milliseconds between pings while a call runs, and until one counts as unanswered; the client's own where none are given. */
  readonly keepAlive: { readonly keepAliveInterval?: number; readonly keepAliveTimeout?: number }
  readonly connectionName?: string
}

/** The schemes of the server under its older and its newer name, which mean the same; our client knows `esdb` alone. */
const SHAPE = /^(?:esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\/(?:([^:@/?]+):([^:@/?]+)@)?([^@/?]+)\/?(?:\?(.+))?$/
const HOST = /^[A-Za-z0-9._-]+(?::\d{1,5})?$/

/** Those that the client knows. What it says of a search for the leader means nothing here: the search is ours. */
const OPTIONS: ReadonlySet<string> = new Set([
  'tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'connectionName',
  'keepAliveInterval', 'keepAliveTimeout',
])

const DEFAULT_PORT = 2113

const NUMBERS: ReadonlySet<string> = new Set(['maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'keepAliveInterval', 'keepAliveTimeout'])

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
    if (!OPTIONS.has(name)) return E.left(`may have the options ${[...OPTIONS].join(', ')} and no others`)
    const value = decoded(raw)
    if (value === null || value === '') return E.left(`lacks a value for its option ${name}`)
    if (NUMBERS.has(name) && !/^(?:-1|\d{1,9})$/.test(value)) return E.left(`should have a number for its option ${name}`)
    options.set(name, value)
  }
  const tls = options.get('tls') ?? 'true'
  if (tls !== 'true' && tls !== 'false') return E.left('should have tls=true or tls=false')
  if (options.has('userCertFile') !== options.has('userKeyFile')) return E.left('should have both userCertFile and userKeyFile, or none')
  return E.right(options)
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

const toAddress = (text: string): Address => {
  const [host = '', port] = text.split(':')
  return { host, port: port === undefined ? DEFAULT_PORT : Number(port) }
}

/** Without the members that are undefined. */
const present = <A extends object>(all: A): { readonly [K in keyof A]?: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as { [K in keyof A]?: Exclude<A[K], undefined> }

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
  const isSecure = options.right.get('tls') !== 'false'
  const credentials = credentialsOf(rawUser, rawPassword, isSecure)
  if (E.isLeft(credentials)) return credentials
  const numberOf = (name: string): number | undefined => {
    const given = options.right.get(name)
    return given === undefined ? undefined : Number(given)
  }
  return E.right({
    hosts: hosts.split(',').map(toAddress),
    discovers: discover !== '',
    tls: isSecure ? present({ ca: options.right.get('tlsCAFile'), cert: options.right.get('userCertFile'), key: options.right.get('userKeyFile') }) : null,
    credentials: credentials.right,
    keepAlive: present({ keepAliveInterval: numberOf('keepAliveInterval'), keepAliveTimeout: numberOf('keepAliveTimeout') }),
    ...present({ connectionName: options.right.get('connectionName') }),
  })
}
