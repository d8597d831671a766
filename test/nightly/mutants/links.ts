import type { Mutant } from './mutant.ts'

const PORT = 'test/api/internal/internal-port.test.ts'
const LINKS = 'test/api/internal/internal-links.test.ts'
const CONTRACT_LINKS = 'test/contract/live-links.test.ts'

/** Links between processes: authentication and forwarding. */
export const linkMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/internal/pre-shared-key.ts',
    before: "deriveKey(masterKey, 'links')",
    after: "deriveKey(masterKey, 'hmac')",
    rows: ['another key derived from the master key'], test: PORT,
  },
  {
    file: 'infrastructure/internal/pre-shared-key.ts',
    before: 'identity === IDENTITY ? psk : null',
    after: 'identity === null ? null : psk',
    rows: ['the key under another name'], test: PORT,
  },
  {
    file: 'infrastructure/internal/unauthenticated-connections.ts',
    before: 'unauthenticated.size <= max ||',
    after: 'unauthenticated.size > max ||',
    rows: ['the oldest unauthenticated connection is closed for a new one'], test: PORT,
  },
  {
    file: 'infrastructure/internal/server.ts',
    before: 'if (target.incarnation !== self.incarnation) return 409',
    after: '',
    rows: ['another incarnation refuses a link and a request to end a session'], test: CONTRACT_LINKS,
  },
  {
    file: 'infrastructure/internal/link-endpoint.ts',
    before: 'if (buffered() > MAX_BUFFERED_BYTES) return cut(`${peer} reads its messages too slowly`)',
    after: '',
    rows: ['unread messages count as buffered, and too many of them end the link'], test: CONTRACT_LINKS,
  },
  {
    file: 'infrastructure/internal/link-endpoint.ts',
    before: 'for (const frame of waiting) socket.send(frame)',
    after: 'for (const frame of waiting.slice(1)) socket.send(frame)',
    rows: ['messages arrive in order in both directions, also those sent before the link is open'],
    test: CONTRACT_LINKS,
  },
  {
    file: 'infrastructure/internal/link-endpoint.ts',
    before: 'watch(socket, timers, () => cut(`${peer} does not answer`))',
    after: 'watch(socket, timers, () => undefined)',
    rows: [
      'a process detects that SIGSTOP stopped its worker',
      'a worker detects that SIGSTOP stopped the dialling process',
    ],
    test: LINKS,
  },
  {
    file: 'infrastructure/internal/link-endpoint.ts',
    before: 'if (size > MAX_MESSAGE_BYTES)\n        return closeWith',
    after: 'if (size > 2 * MAX_MESSAGE_BYTES)\n        return closeWith',
    rows: ['a message over 8 MiB ends the link on either side'], test: LINKS,
  },
  {
    file: 'infrastructure/internal/server.ts',
    before: "        endpoint.cut('an error occurred in this process')\n",
    after: '',
    rows: ['a handler that throws ends its own link'], test: LINKS,
  },
  {
    file: 'infrastructure/internal/messages.ts',
    before: "return { _tag: 'unknown', kind: value.kind.slice(0, 50) }",
    after: "return malformed('an unknown kind')",
    rows: ['an unknown message is ignored with a warning; a malformed message closes only its own link'], test: LINKS,
  },
  {
    file: 'infrastructure/internal/throttled-warnings.ts',
    before: 'entry.repetitions += 1',
    after: 'logger.warn(fields, message)',
    rows: ['the first warning of a kind is logged at once, the following ones as a count each minute'], test: PORT,
  },
]
