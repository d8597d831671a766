import type { Mutant } from './mutant.ts'

const CONNECTIONS = 'test/api/http/connections.test.ts'
const SLOW_READERS = 'test/api/http/slow-readers.test.ts'
const MALFORMED = 'test/api/http/malformed.test.ts'
const FILES = 'test/api/http/files.test.ts'
const CONTENT_TYPES = 'test/api/http/content-types.test.ts'
const DESCRIPTION = 'test/api/http/description.test.ts'
const LINK_HOSTS = 'test/e2e/service/interface/link-hosts.test.ts'

/** The HTTP server: slow clients, unread answers, malformed and undeclared requests. */
export const connectionMutants: ReadonlyArray<Mutant> = [
  {
    file: 'interfaces/compose/assemble.ts',
    before: 'await using starting',
    after: 'const starting',
    rows: ['a failed assembly stops the parts that it had opened and names the reason'],
    test: 'test/unit/compose/assemble.test.ts',
  },
  {
    file: 'interfaces/compose/front.ts',
    before: '      await acceptBacklog(server, BACKLOG)\n',
    after: '',
    rows: ['requests on connections that wait for acceptance at SIGTERM are answered'],
    test: 'test/e2e/compose/stop.test.ts',
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'const peer = isTrusted(address) ? null : clientAddress(address)',
    after: 'const peer = clientAddress(address)',
    rows: ['behind a trusted proxy the limit applies to each client, not to the proxy'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'socket.bytesRead !== bytesAtRequestEnd',
    after: 'socket.bytesRead < bytesAtRequestEnd',
    rows: ['a request with an unfinished head counts as waiting'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'latest === undefined ? !isNew(connection) : !latest.request.complete',
    after: 'latest === undefined && !isNew(connection)',
    rows: ['a request with an unfinished body counts as waiting'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'if (byPeer.of(peer).size <= limits.maxOpen) return',
    after: 'if (byPeer.of(peer).size > 0) return',
    rows: ['an address over its connection limit loses its idle connections, not those in use'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'if (!isComplete && request.complete) connection.bytesAtRequestEnd = socket.bytesRead',
    after: '',
    rows: ['idle connections between two requests do not count as waiting'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (queue.length >= maxPipelined)',
    after: 'if (queue.length > 1e6)',
    rows: ['a connection with too many pipelined requests is closed after the accepted ones are answered'],
    test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (kind === 'reading') connection.socket.pause()",
    after: '',
    rows: ['a client that reads nothing is disconnected; a client that reads slowly gets the whole answer'],
    test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (socket.writableLength > 0) return { client, kind: 'reading' }",
    after: '',
    rows: ['a client with too many unread answers is disconnected'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (wait.kind === 'reading') socket.resume()",
    after: '',
    rows: ['a connection whose answer was read late can send its next request'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (queue.length === 1) handleFirst(socket)',
    after: 'handle(request, response)',
    rows: ['pipelined requests run one after another, and wait while their client does not read'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/server.ts',
    before: 'const LARGE_RESPONSE_BYTES = 64 * 1024',
    after: 'const LARGE_RESPONSE_BYTES = Infinity',
    rows: ['unread answer bytes of a disconnected client are released from the kernel at once'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: ' || incomplete?.response.headersSent === true',
    after: '',
    rows: ['an error later in a request does not corrupt an answer that has begun'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (pending === undefined) finish()',
    after: 'if (pending !== null) finish()',
    rows: ['with a standard error body, also after earlier answers'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'first === undefined || !socket.writable || ',
    after: 'first === undefined || ',
    rows: ['bytes after a request that closes its connection are ignored'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/server.ts',
    before: "server.on('clientError', (error",
    after: "server.on('clientErrors', (error",
    rows: ['with a standard error body, also after earlier answers'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/access-log.ts',
    before: "code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message",
    after:
      "code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message, " +
      '...error',
    rows: ['the content of a malformed request stays out of the log'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/pages/static-file.ts',
    before: 'if (ctx.fresh) ctx.status = 304',
    after: 'if (ctx.stale === null) ctx.status = 304',
    rows: ['page files are compressed as the client accepts, and a cached copy is answered with 304'], test: FILES,
  },
  {
    file: 'interfaces/http/body.ts',
    before: 'ctx.request.is(TYPES[kind]) === false',
    after: 'ctx.request.is(TYPES[kind]) === null',
    rows: ['every JSON route answers 415 to a body of another content type and changes nothing'], test: CONTENT_TYPES,
  },
  {
    file: 'interfaces/http/body.ts',
    before: 'if (!hasBody(ctx)) return E.right({})',
    after: "if (!hasBody(ctx) && kind === 'form') return E.right({})",
    rows: ['a request without a body needs no content type and counts as an empty object'], test: CONTENT_TYPES,
  },
  {
    file: 'interfaces/description/openapi.ts',
    before: 'login: [{ bearer: [] }],',
    after: 'login: [{ bearer: [] }, { apiKey: [] }],',
    rows: ['exactly the described credentials open a route'], test: DESCRIPTION,
  },
  {
    file: 'interfaces/http/clients/links.ts',
    before: 'UNSPECIFIED.has(host) && isIP',
    after: 'UNSPECIFIED.has(host) || isIP',
    rows: ['with HOST=0.0.0.0, links use the Host header if it is an IP address or localhost'], test: LINK_HOSTS,
  },
  {
    file: 'interfaces/http/clients/links.ts',
    before: "{ '0.0.0.0': '127.0.0.1',",
    after: '{',
    rows: ['the setup link uses the public address and the base path'],
    test: 'test/nightly/console/set-up-link.test.ts',
  },
]
