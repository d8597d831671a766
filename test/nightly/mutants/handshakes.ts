import type { Mutant } from './mutant.ts'

const WEBSOCKET_UPGRADE = 'test/e2e/service/sockets/upgrade.test.ts'
const HANDSHAKE_LIMITS = 'test/api/ws/handshake-limits.test.ts'
const RESERVED_CONNECTIONS = 'test/e2e/service/sockets/places.test.ts'

/** WebSocket handshakes: origins, rates and the number of connections. */
export const handshakeMutants: ReadonlyArray<Mutant> = [
  {
    file: 'interfaces/compose/front.ts',
    before: ', shouldUpgrade: isWebSocketRequest }',
    after: ' }',
    rows: ['a request that offers h2c is answered over HTTP/1.1, and the connection stays usable'],
    test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: "    request.headers.upgrade = 'websocket'\n",
    after: '',
    rows: ['a WebSocket opens when the request offers h2c as well'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/http/app.ts',
    before: 'const isSocket = findTarget(ctx.path, prefixes(settings.basePath)) !== null',
    after: 'const isSocket = false',
    rows: ['a WebSocket path without an upgrade answers 426 and explains how to connect'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: "  values.delete('')\n",
    after: '',
    rows: ['an empty token parameter is ignored'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/protocol.ts',
    before: 'const decoded = settingsBody.decode(body)',
    after: 'const decoded = Object.values(body).includes(null) ? E.left(null) : settingsBody.decode(body)',
    rows: ['null in a config frame leaves the setting unchanged, as in REST'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'const MIN_UNGUESSABLE_CHARS = 16',
    after: 'const MIN_UNGUESSABLE_CHARS = 0',
    rows: ['a guessable token gets 429 from a blocked address, unless it connected from there before'],
    test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'token.length >= MIN_UNGUESSABLE_CHARS || !failures.isReached',
    after: '!failures.isReached',
    rows: ['an address with too many failures gets 429 for wrong tokens, but a right token connects'],
    test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: '\n      || knownTokens.get(`${address} ${token}`) === true',
    after: '',
    rows: ['a guessable token gets 429 from a blocked address, unless it connected from there before'],
    test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'const BURST_SECONDS = 20',
    after: 'const BURST_SECONDS = 21',
    rows: ['an address may open 2,000 handshakes to a session at once, then 100 a second'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: '`${address} ${liveId} ${role}`',
    after: '`${address} ${liveId}`',
    rows: ['an address may open 2,000 handshakes to a session at once, then 100 a second'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: 'if (O.isNone(resolved.right) || !limits.mayTry(address, token))',
    after: 'if (O.isNone(resolved.right))',
    rows: ['parallel guesses of short tokens get no more answers than sequential guesses'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: "slots.take(admission.sender === null ? 'listener' : 'sender')",
    after: 'slots.take(admission.role)',
    rows: ['a second sender of a session cannot use the socket places kept for senders'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: '        admitted.releaseSlot()\n',
    after: '',
    rows: ['a refused or malformed handshake frees its place for another socket'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/socket-slots.ts',
    before: 'taken.listener < max - reserved',
    after: 'taken.listener < max',
    rows: ['listeners cannot use the socket places kept for senders, and a refused sender frees its place'],
    test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/compose/socket-limits.ts',
    before: 'Math.ceil(max / 8)',
    after: '0',
    rows: ['listeners cannot use the connections that are reserved for senders'], test: RESERVED_CONNECTIONS,
  },
]
