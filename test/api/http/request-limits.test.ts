import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import fc from 'fast-check'
import type { Caller } from '../../../application/caller.ts'
import { createRequestLimits } from '../../../interfaces/http/clients/request-limits.ts'
import { consoleFiles } from '../../../interfaces/http/console/console-files.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { tokenView } from './example-views.ts'
import { HTTP_SETTINGS, startHttp } from './http-service.ts'

const { build: BUILD } = await consoleFiles()

const start = (perSecond: number, maxKnown?: number) => {
  const { monotonic, advance } = createManualTimers()
  const limits = createRequestLimits({ monotonic }, perSecond, maxKnown)
  /** Sends `count` requests of the client, and returns how many pass. */
  const passing = (client: string, count: number): number =>
    Array.from({ length: count }, () => limits.take(client)).filter(E.isRight).length
  return { ...limits, advance, passing }
}

test('each client may send 100 requests at once, then 50 a second', (t) => {
  const { passing, advance, take } = start(50)
  t.is(passing('user 1', 150), 100)
  t.is(passing('user 2', 100), 100, 'each client has its own limit')
  t.deepEqual(take('user 1'), E.left({ _tag: 'TooManyRequests', seconds: 1 }))
  advance(1000)
  t.is(passing('user 1', 150), 50)
  advance(19)
  t.is(passing('user 1', 1), 0, 'refused requests do not change the count')
  advance(1)
  t.is(passing('user 1', 2), 1)
  advance(3_600_000)
  t.is(passing('user 1', 150), 100, 'after an hour only one burst is available')
})

test('any positive number is a limit, and 0 means unlimited', (t) => {
  t.is(start(1).passing('user 1', 10), 2)
  t.is(start(3).passing('user 1', 10), 6)
  t.is(start(7).passing('user 1', 20), 14)
  t.is(start(0).passing('user 1', 5000), 5000)
})

test('no client gets more requests than burst and rate allow', (t) => {
  const step = fc.record({ wait: fc.integer({ min: 0, max: 700 }), count: fc.integer({ min: 1, max: 40 }) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 40 }), (perSecond, steps) => {
      const { passing, advance } = start(perSecond)
      let [passed, elapsed] = [0, 0]
      for (const { wait, count } of steps) {
        advance(wait)
        elapsed += wait
        passed += passing('key', count)
        if (passed > perSecond * (2 + elapsed / 1000) + 1e-6) return false
      }
      return true
    }),
  )
  t.pass()
})

test('the least recently active client is forgotten first', (t) => {
  const { passing } = start(1, 3)
  t.is(passing('a', 5), 2)
  for (const other of ['b', 'a', 'c', 'a', 'd']) passing(other, 1)
  t.is(passing('a', 5), 0)
  t.is(passing('b', 5), 2, 'a forgotten client starts with a full burst')
})

const KEY = `lt_${'a'.repeat(12)}_${'b'.repeat(43)}`
/** The user of the valid API key. */
const keyCaller: Caller = { userId: 7, permissions: [], maxSessions: 10, maxTranslations: 5, credential: 'api-key' }

/** The user of each login; user 7 has two logins. */
const LOGINS: Readonly<Record<string, number>> = { user: 7, 'user-again': 7, admin: 8 }

const startLimited = async (t: Parameters<typeof startHttp>[0], settings = HTTP_SETTINGS) => {
  const { monotonic, advance } = createManualTimers()
  const authenticateKey = async (secret: string) => E.right(secret === KEY ? O.some(keyCaller) : O.none)
  const authenticate = async (bearer: string): Promise<E.Either<never, O.Option<Caller>>> =>
    E.right(
      O.map((userId: number): Caller => ({ ...keyCaller, userId, credential: 'jwt' }))(O.fromNullable(LOGINS[bearer])),
    )
  const limits = createRequestLimits({ monotonic }, 50)
  const http = await startHttp(t, { authenticate, authenticateKey }, { settings, limits })
  const statuses = async (
    count: number,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<ReadonlyArray<number>> => {
    const answers: Array<number> = []
    for (let n = 0; n < count; n += 1) answers.push((await http.send('GET', path, { headers })).status)
    return answers
  }
  return { ...http, statuses, advance }
}

test('users, API keys, anonymous addresses, probes and page files have separate limits', async (t) => {
  const http = await startLimited(t)
  const user = { authorization: 'Bearer user' }
  t.deepEqual(new Set(await http.statuses(100, '/users/me', user)), new Set([200]))
  const refused = await http.send('GET', '/users/me', { headers: { ...user, origin: 'https://a.example' } })
  t.deepEqual(
    [refused.status, refused.headers.get('retry-after'), await refused.json()],
    [429, '1', { detail: 'Too many requests' }],
  )
  t.is(refused.headers.get('access-control-allow-origin'), '*', 'a page of another origin can read the refusal')
  t.regex(refused.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  t.deepEqual(
    await http.statuses(1, '/users/me', { authorization: 'Bearer user-again' }),
    [429],
    'both logins of a user share a limit',
  )
  t.deepEqual(await http.statuses(1, '/users/me', { authorization: 'Bearer admin' }), [200])
  t.deepEqual(new Set(await http.statuses(60, '/users/me', { 'x-api-key': KEY })), new Set([200]))
  t.deepEqual(
    (await http.statuses(41, '/users/me', { authorization: `Bearer ${KEY}` })).slice(-2),
    [200, 429],
    'a key has one limit for both headers',
  )
  // Public routes and wrong credentials count for the address, also with valid credentials.
  t.deepEqual(new Set(await http.statuses(40, '/languages', user)), new Set([200]))
  t.deepEqual(new Set(await http.statuses(20, '/users/me', { authorization: 'Bearer made-up' })), new Set([401]))
  t.deepEqual(new Set(await http.statuses(20, '/users/me')), new Set([401]))
  t.deepEqual((await http.statuses(21, '/nowhere')).slice(-2), [404, 429])
  t.deepEqual(await http.statuses(1, '/version'), [429])
  t.deepEqual(await http.statuses(1, '/users/me', { authorization: 'Bearer another' }), [429])
  t.is(
    (await http.send('POST', '/login', { body: new URLSearchParams({ username: 'ann', password: 'x' }) })).status,
    429,
  )
  t.deepEqual((await http.statuses(101, '/health/live')).slice(-2), [200, 429])
  t.deepEqual(await http.statuses(1, '/metrics'), [429])
  const file = `/console/${BUILD}/console/main.ts`
  t.deepEqual((await http.statuses(401, file)).slice(-2), [200, 429], 'page files have a higher limit')
  t.deepEqual(await http.statuses(1, '/'), [429])
  http.advance(1000)
  t.deepEqual(await http.statuses(1, '/version'), [200])
})

test('contradicting forwarding headers of strangers do not use up the limit of the proxy itself', async (t) => {
  const http = await startLimited(t, { ...HTTP_SETTINGS, trustedProxies: ['127.0.0.0/8'] })
  for (const path of ['/health/ready', '/version']) {
    const forged = { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=198.51.100.1' }
    t.deepEqual((await http.statuses(101, path, forged)).slice(-2), [200, 429])
    t.deepEqual(await http.statuses(1, path, { ...forged, 'x-forwarded-for': '192.0.2.7' }), [429], 'one shared limit')
    t.deepEqual(await http.statuses(1, path), [200])
  }
})

test('a user has ten times the limit over all credentials; large bodies and many rows cost more', async (t) => {
  const { monotonic, advance } = createManualTimers()
  const authenticateKey = async () => E.right(O.some(keyCaller))
  const rows = { items: Array.from({ length: 1000 }, (_, n) => tokenView(n + 1)), total: 1000 }
  const listTokens = async () => E.right(rows)
  const limits = createRequestLimits({ monotonic }, 1)
  const http = await startHttp(t, { authenticateKey, listTokens }, { limits })
  let sent = 0
  const send = async (method: string, path: string, body?: unknown): Promise<number> => {
    sent += 1
    const headers = { 'x-api-key': `lt_${String(sent).padStart(12, 'a')}_${'b'.repeat(43)}` }
    return (await http.send(method, path, { headers, ...(body !== undefined && { body }) })).status
  }
  const passing = async (count: number, ...request: Parameters<typeof send>): Promise<number> => {
    const statuses: Array<number> = []
    for (let n = 0; n < count; n += 1) statuses.push(await send(...request))
    return statuses.filter((status) => status === 200).length
  }
  t.is(await passing(25, 'GET', '/users/me'), 20, 'each request has another key')
  advance(2000)
  t.is(await passing(5, 'GET', '/tokens'), 2, 'a request for 1,000 rows costs 11 units')
  advance(4000)
  const body = { name: 'x', unknown: 'y'.repeat(32 * 1024) }
  t.is(await passing(10, 'POST', '/user-live-configs', body), 4, 'a request with a body of 32 KiB costs 5 units')
  t.deepEqual(limits.takeOfUser(keyCaller.userId), E.left({ _tag: 'TooManyRequests', seconds: 1 }))
  t.deepEqual(limits.takeOfUser(8), E.right(undefined), 'another user has another limit')
})

test('after 30 wrong API keys in a minute the address gets 429; valid keys still pass', async (t) => {
  const http = await startLimited(t)
  const guess = (n: number): Record<string, string> =>
    n % 2 === 0 ? { 'x-api-key': `lt_guess${n}` } : { authorization: `Bearer lt_guess${n}` }
  const answers: Array<Response> = []
  for (let n = 0; n < 35; n += 1) answers.push(await http.send('GET', '/lives', { headers: guess(n) }))
  t.deepEqual(
    answers.map(({ status }) => status),
    [...Array.from({ length: 30 }, () => 401), ...Array.from({ length: 5 }, () => 429)],
  )
  t.regex(answers.at(-1)?.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  t.deepEqual(await http.statuses(1, '/lives', { 'x-api-key': KEY }), [200])
  t.deepEqual(
    await http.statuses(1, '/lives', { authorization: 'Bearer stale-login' }),
    [401],
    'an expired login is not a guess',
  )
  http.advance(60_000)
  t.deepEqual(await http.statuses(1, '/lives', guess(99)), [401])
})
