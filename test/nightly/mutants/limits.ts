import type { Mutant } from './mutant.ts'

const REQUEST_LIMITS = 'test/api/http/request-limits.test.ts'
const THROTTLE = 'test/unit/application/users/login-throttle.test.ts'
const SERVICE = 'test/e2e/service/operation/limits.test.ts'
const LIMITS = 'interfaces/http/clients/request-limits.ts'
const ACCESS = 'interfaces/http/access.ts'

/** Rate limits of requests, logins and setup attempts. */
export const limitMutants: ReadonlyArray<Mutant> = [
  {
    file: LIMITS,
    before: 'const BURST_SECONDS = 2',
    after: 'const BURST_SECONDS = 3',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: LIMITS,
    before: 'E.isLeft(verdict) ? before : before + step)',
    after: 'before + step)',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: 'application/lru-cache.ts',
    before: '    entries.delete(key)\n    entries.set',
    after: '    entries.set',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: LIMITS,
    before: 'Math.max(now, fullAt.get(client) ?? now)',
    after: '(fullAt.get(client) ?? now)',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: LIMITS,
    before: 'const WRONG_KEYS_PER_MINUTE = 30',
    after: 'const WRONG_KEYS_PER_MINUTE = 31',
    rows: ['S25'], test: REQUEST_LIMITS,
  },
  {
    file: ACCESS,
    before: 'return E.isLeft(verdict) ? verdict : refusal',
    after: 'return refusal',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: ACCESS,
    before: '`user ${caller.right.value.userId}`, limiting)',
    after: '`user ${sent.authorization}`, limiting)',
    rows: ['D57'], test: REQUEST_LIMITS,
  },
  {
    file: 'interfaces/http/clients/failure-limit.ts',
    before: '    failures.clear()\n',
    after: '',
    rows: ['S25'], test: REQUEST_LIMITS,
  },
  {
    file: 'interfaces/compose/front.ts',
    before: 'failedHandshakesPerMinute: 30,',
    after: 'failedHandshakesPerMinute: 31,',
    rows: ['S25'], test: SERVICE,
  },
  {
    file: 'interfaces/ws/socket-server.ts',
    before: 'return limits.countWrong(address) ?? admission',
    after: 'return admission',
    rows: ['S25'], test: SERVICE,
  },
  {
    file: 'domain/login/decider.ts',
    before: 'const FIRST_WAIT_OF_NETWORK = 5',
    after: 'const FIRST_WAIT_OF_NETWORK = 6',
    rows: ['S24'], test: THROTTLE,
  },
  {
    file: 'domain/login/decider.ts',
    before: '1000 * 2 ** (failures - firstWait)',
    after: '1000 * (failures - firstWait + 1)',
    rows: ['S24'], test: 'test/unit/domain/login.test.ts',
  },
  {
    file: 'application/users/recent-failures.ts',
    before: 'const MAX_FAILURES = 20',
    after: 'const MAX_FAILURES = 21',
    rows: ['S24'], test: THROTTLE,
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: "  server.on('upgrade', ({ socket }: IncomingMessage) => {",
    after: "  server.on('upgraded', ({ socket }: IncomingMessage) => {",
    rows: ['connections that became WebSockets do not count as waiting'], test: 'test/api/http/connections.test.ts',
  },
  {
    file: 'interfaces/http/connections/waiting-connections.ts',
    before: 'waiting[kind].of(client).size <= max[kind]) return',
    after: 'waiting[kind].of(client).size <= max[kind] + 1) return',
    rows: ['S20'], test: 'test/api/http/connections.test.ts',
  },
]
