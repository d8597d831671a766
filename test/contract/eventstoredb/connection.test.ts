import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import { parseConnection } from '../../../infrastructure/eventstoredb/connection.ts'
import { createCallTimeouts } from '../../../infrastructure/eventstoredb/call-timeouts.ts'
import { fromPosition, toPosition } from '../../../infrastructure/eventstoredb/positions.ts'

const ada = { username: 'ada', password: 'x' }

test('a connection string contains the nodes, the account and the options of all connections', (t) => {
  t.deepEqual(
    parseConnection('esdb://ada:p%40ss@db.example/'),
    E.right({
      hosts: [{ host: 'db.example', port: 2113 }],
      discovers: false,
      tls: {},
      credentials: { username: 'ada', password: 'p@ss' },
      keepAlive: {},
    }),
  )
  const all =
    'tls=true&tlsCAFile=/a%20b/ca.crt&userCertFile=/u.crt&userKeyFile=/u.key&keepAliveInterval=-1' +
    '&keepAliveTimeout=9000&connectionName=c&gossipTimeout=1'
  t.deepEqual(
    parseConnection(`esdb+discover://ada:x@a:1,b:2?${all}`),
    E.right({
      hosts: [{ host: 'a', port: 1 }, { host: 'b', port: 2 }],
      discovers: true,
      credentials: ada,
      tls: { ca: '/a b/ca.crt', cert: '/u.crt', key: '/u.key' },
      keepAlive: { keepAliveInterval: -1, keepAliveTimeout: 9000 },
      connectionName: 'c',
    }),
  )
})

test('the newer scheme names mean the same as the older one', (t) => {
  for (const scheme of ['esdb', 'kurrentdb', 'kurrent', 'kdb'])
    for (const discover of ['', '+discover'])
      t.deepEqual(
        parseConnection(`${scheme}${discover}://ada:x@a:1,b:2`),
        E.right({
          hosts: [{ host: 'a', port: 1 }, { host: 'b', port: 2 }],
          discovers: discover !== '',
          tls: {},
          credentials: ada,
          keepAlive: {},
        }),
        scheme,
      )
})

test('an account is optional for an insecure server; the client then sends a placeholder', (t) => {
  t.deepEqual(
    parseConnection('esdb://127.0.0.1:2113?tls=false&tlsCAFile=/unused'),
    E.right({
      hosts: [{ host: '127.0.0.1', port: 2113 }],
      discovers: false,
      tls: null,
      credentials: { username: 'none', password: 'none' },
      keepAlive: {},
    }),
  )
})

const WRONG = [
  'http://h',
  'esdb://',
  'esdb://h:port',
  'esdb://secret@h',
  'esdb://u:secret:x@h?tls=false',
  'esdb://u:%secret@h',
  'esdb://h',
  'esdb://u:secret@h?tls=no',
  'kurrentd://u:secret@h',
  'esdb+seek://u:secret@h',
  'kurrentdb://u:secret@h?tlsVerifyCert=false',
  'esdb://u:secret@h?tls',
  'esdb://u:secret@h?throwOnAppendFailure=false',
  'esdb://u:secret@h?tlsVerifyCert=false',
  'esdb://u:secret@h?unknown=1',
  'esdb://u:secret@h?keepAliveInterval=soon',
  'esdb://u:secret@h?userCertFile=/a',
  'esdb://u:secret@h?tlsCAFile=%secret',
]
for (const [index, text] of WRONG.entries())
  test(`an invalid connection string is refused without its secret (${index + 1})`, (t) => {
    const parsed = parseConnection(text)
    t.true(E.isLeft(parsed))
    t.false(E.isLeft(parsed) && parsed.left.includes('secret'))
  })

test('positions, including checkpoints between events, sort like the log and convert back', (t) => {
  const places = [[9n, 9n], [10n, 0n], [10n, 10n], [11n, 10n], [11n, 11n], [18446744073709551615n, 0n]] as const
  const positions = places.map(([commit, prepare]) => toPosition({ commit, prepare }))
  t.deepEqual(positions.toSorted(), positions)
  t.true(positions.every((position) => position > BEGINNING))
  t.deepEqual(positions.map(fromPosition), places.map(([commit, prepare]) => ({ commit, prepare })))
  t.is(fromPosition(BEGINNING), 'start')
})

test('a position of another store is refused', (t) => {
  t.throws(() => fromPosition('00000000000000000007' as Position), { message: /not a position/ })
})

test('only the first unanswered call waits for the full time', (t) => {
  let now = 0
  const timeouts = createCallTimeouts({ usual: 800, short: 200, suspicion: 3000, confirmation: 1500 }, () => now)
  const limits = [timeouts.limit()]
  for (const elapsedMs of [800, 200, 1800, 200]) {
    now += elapsedMs
    timeouts.unanswered()
    limits.push(timeouts.limit())
  }
  // The suspicion expires, so a slow store gets the full time again.
  now = 3801
  limits.push(timeouts.limit())
  timeouts.unanswered()
  limits.push(timeouts.limit())
  timeouts.answered()
  limits.push(timeouts.limit())
  t.deepEqual(limits, [800, 200, 200, 200, 200, 800, 200, 800])
})
