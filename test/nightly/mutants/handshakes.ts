import type { Mutant } from './mutant.ts'

const WEBSOCKET_UPGRADE = 'test/e2e/service/websocket-upgrade.test.ts'
const HANDSHAKE_LIMITS = 'test/api/ws/handshake-limits.test.ts'
const WEBSOCKET_PLACES = 'test/e2e/service/websocket-places.test.ts'

/** Handshakes of sockets: what asks for one, how often, and the places that there are. */
export const handshakeMutants: ReadonlyArray<Mutant> = [
  {
    file: 'interfaces/compose/front.ts',
    before: ', shouldUpgrade: isWebSocketRequest }',
    after: ' }',
    rows: ['a request that offers h2c is answered over HTTP/1.1'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: "    request.headers.upgrade = 'websocket'\n",
    after: '',
    rows: ['a WebSocket that is offered beside h2c is opened'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/http/app.ts',
    before: 'const isSocket = findTarget(ctx.path, prefixes(settings.basePath)) !== null',
    after: 'const isSocket = false',
    rows: ['the path of a socket asked for without an upgrade answers 426'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/handshakes/handshake.ts',
    before: "  values.delete('')\n",
    after: '',
    rows: ['an empty token counts as none'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/protocol.ts',
    before: 'const decoded = settingsBody.decode(body)',
    after: 'const decoded = Object.values(body).includes(null) ? E.left(null) : settingsBody.decode(body)',
    rows: ['null in a config frame leaves the setting as it is'], test: WEBSOCKET_UPGRADE,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'const MIN_UNGUESSABLE_CHARS = 16',
    after: 'const MIN_UNGUESSABLE_CHARS = 0',
    rows: ['a token short enough to be guessed is not tried'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'token.length >= MIN_UNGUESSABLE_CHARS || !failures.isReached',
    after: '!failures.isReached',
    rows: ['a right token gets in from an address that failed too often'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: ' || known.has(`${address} ${token}`)',
    after: '',
    rows: ['a token short enough to be guessed is not tried'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: 'const BURST_SECONDS = 20',
    after: 'const BURST_SECONDS = 21',
    rows: ['an address shakes hands with a live two thousand times at once'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/handshake-limits.ts',
    before: '`${address} ${liveId} ${role}`',
    after: '`${address} ${liveId}`',
    rows: ['an address shakes hands with a live two thousand times at once'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: 'if (O.isNone(resolved.right) || !limits.mayTry(address, token))',
    after: 'if (O.isNone(resolved.right))',
    rows: ['of short tokens that are tried together no more are answered'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: "slots.take(admission.sender === null ? 'listener' : 'sender')",
    after: 'slots.take(admission.role)',
    rows: ['a sender that comes second finds no place'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: '        admitted.releaseSlot()\n',
    after: '',
    rows: ['a handshake that is refused or malformed gives its place back'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/ws/handshakes/socket-slots.ts',
    before: 'taken.listener < max - reserved',
    after: 'taken.listener < max',
    rows: ['listeners leave places free, in which senders still find room'], test: HANDSHAKE_LIMITS,
  },
  {
    file: 'interfaces/compose/socket-limits.ts',
    before: 'Math.ceil(max / 8)',
    after: '0',
    rows: ['listeners that take every place they get keep no sender out'], test: WEBSOCKET_PLACES,
  },
]
