import type { Mutant } from './mutant.ts'

const CONNECTIONS = 'test/api/http/connections.test.ts'
const SLOW_READERS = 'test/api/http/slow-readers.test.ts'
const MALFORMED = 'test/api/http/malformed.test.ts'
const FILES = 'test/api/http/files.test.ts'
const CONTENT_TYPES = 'test/api/http/content-types.test.ts'
const DESCRIPTION = 'test/api/http/description.test.ts'
const REACHED = 'test/e2e/service/reached.test.ts'

/** The HTTP server: connections that wait for their client, answers that nobody takes, what is malformed or undeclared. */
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
    rows: ['wait to be accepted when SIGTERM comes'], test: 'test/e2e/compose/stop.test.ts',
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'const peer = isTrusted(address) ? null : clientAddress(address)',
    after: 'const peer = clientAddress(address)',
    rows: ['behind a trusted proxy each client counts for itself'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'socket.bytesRead !== bytesAtRequestEnd',
    after: 'socket.bytesRead < bytesAtRequestEnd',
    rows: ['half of a head counts on a connection'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'latest === undefined ? !isNew(connection) : !latest.request.complete',
    after: 'latest === undefined && !isNew(connection)',
    rows: ['half of a body counts on a connection'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'if (byPeer.of(peer).size <= limits.maxOpen) return',
    after: 'if (byPeer.of(peer).size > 0) return',
    rows: ['beyond the most connections of an address its idle ones make room'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'if (!isComplete && request.complete) connection.bytesAtRequestEnd = socket.bytesRead',
    after: '',
    rows: ['connections that wait for their next request count no more'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (queue.length >= maxPipelined)',
    after: 'if (queue.length > 1e6)',
    rows: ['too many requests ahead of their answers end the connection'], test: CONNECTIONS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (kind === 'reading') connection.socket.pause()",
    after: '',
    rows: ['a client that takes nothing of its answer is cut off'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (socket.writableLength > 0) return { client, kind: 'reading' }",
    after: '',
    rows: ['of the answers that a client does not take only so many are held'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "if (wait.kind === 'reading') socket.resume()",
    after: '',
    rows: ['a connection whose answer was taken late goes on'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (queue.length === 1) handleFirst(socket)',
    after: 'handle(request, response)',
    rows: ['the requests of a connection are worked on one after another'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/server.ts',
    before: 'const LARGE_RESPONSE_BYTES = 64 * 1024',
    after: 'const LARGE_RESPONSE_BYTES = Infinity',
    rows: ['what the system holds of whole answers is given up'], test: SLOW_READERS,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: ' || incomplete?.response.headersSent === true',
    after: '',
    rows: ['nothing is written behind the beginning of an answer'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'if (pending === undefined) finish()',
    after: 'if (pending !== null) finish()',
    rows: ['with a body like that of every error, also behind answers that are due'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/exchanges.ts',
    before: 'first === undefined || !socket.writable || ',
    after: 'first === undefined || ',
    rows: ['what stands behind a request that ends its connection'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/connections/server.ts',
    before: "server.on('clientError', (error",
    after: "server.on('clientErrors', (error",
    rows: ['with a body like that of every error, also behind answers that are due'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/access-log.ts',
    before: "code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message",
    after: "code: 'code' in error && typeof error.code === 'string' ? error.code : undefined, error: error.message, ...error",
    rows: ['what a malformed request holds stays out of the log'], test: MALFORMED,
  },
  {
    file: 'interfaces/http/pages/static-file.ts',
    before: 'if (ctx.fresh) ctx.status = 304',
    after: 'if (ctx.stale === null) ctx.status = 304',
    rows: ['files of pages come compressed as the client can read them'], test: FILES,
  },
  {
    file: 'interfaces/http/body.ts',
    before: 'ctx.request.is(...JSON_TYPES) === false',
    after: 'ctx.request.is(...JSON_TYPES) === null',
    rows: ['a body that is not declared as JSON is 415'], test: CONTENT_TYPES,
  },
  {
    file: 'interfaces/http/body.ts',
    before: "kind === 'json' && hasBody(ctx) &&",
    after: "kind === 'json' &&",
    rows: ['a request without a body says nothing of its type'], test: CONTENT_TYPES,
  },
  {
    file: 'interfaces/description/openapi.ts',
    before: 'login: [{ bearer: [] }],',
    after: 'login: [{ bearer: [] }, { apiKey: [] }],',
    rows: ['the credentials that a route is described with, and no others'], test: DESCRIPTION,
  },
  {
    file: 'interfaces/http/clients/links.ts',
    before: 'UNSPECIFIED.has(host) && isIP',
    after: 'UNSPECIFIED.has(host) || isIP',
    rows: ['where every address is listened on, an IP address in Host'], test: REACHED,
  },
  {
    file: 'interfaces/http/clients/links.ts',
    before: "{ '0.0.0.0': '127.0.0.1',",
    after: '{',
    rows: ['the set-up link is one that can be opened'], test: REACHED,
  },
]
