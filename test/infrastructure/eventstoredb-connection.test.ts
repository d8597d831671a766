import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type Position } from '../../application/ports/event-store.ts'
import { parseConnection } from '../../infrastructure/eventstoredb/connection.ts'
import { createPatience } from '../../infrastructure/eventstoredb/patience.ts'
import { fromPosition, toPosition } from '../../infrastructure/eventstoredb/positions.ts'

const KEEP_ALIVE = 'keepAliveInterval=2000&keepAliveTimeout=4000'

test('a connection keeps what it was given and gets a keep-alive', (t) => {
  t.deepEqual(parseConnection('esdb://ada:p%40ss@db.example:2113/'), E.right({
    connectionString: `esdb://ada:p%40ss@db.example:2113?${KEEP_ALIVE}`,
    credentials: { username: 'ada', password: 'p@ss' },
  }))
  t.deepEqual(parseConnection('esdb+discover://ada:x@a:1,b:2?tls=true&keepAliveTimeout=9000'), E.right({
    connectionString: 'esdb+discover://ada:x@a:1,b:2?keepAliveInterval=2000&keepAliveTimeout=9000&tls=true',
    credentials: { username: 'ada', password: 'x' },
  }))
})

test("the newer names of the server's scheme mean the same as the older one", (t) => {
  for (const scheme of ['esdb', 'kurrentdb', 'kurrent', 'kdb'])
    for (const discover of ['', '+discover'])
      t.deepEqual(parseConnection(`${scheme}${discover}://ada:x@a:1,b:2`), E.right({
        connectionString: `esdb${discover}://ada:x@a:1,b:2?${KEEP_ALIVE}`,
        credentials: { username: 'ada', password: 'x' },
      }), scheme)
})

test('an insecure server needs no account, and gets one all the same', (t) => {
  t.deepEqual(parseConnection('esdb://127.0.0.1:2113?tls=false'), E.right({
    connectionString: `esdb://127.0.0.1:2113?${KEEP_ALIVE}&tls=false`,
    credentials: { username: 'none', password: 'none' },
  }))
})

const WRONG = [
  'http://h', 'esdb://', 'esdb://h:port', 'esdb://secret@h', 'esdb://u:secret:x@h?tls=false', 'esdb://u:%secret@h', 'esdb://h', 'esdb://u:secret@h?tls=no',
  'kurrentd://u:secret@h', 'esdb+seek://u:secret@h', 'kurrentdb://u:secret@h?tlsVerifyCert=false',
  'esdb://u:secret@h?tls', 'esdb://u:secret@h?throwOnAppendFailure=false', 'esdb://u:secret@h?tlsVerifyCert=false', 'esdb://u:secret@h?unheard=1',
]
for (const [index, text] of WRONG.entries())
  test(`what is no connection is refused without its secret (${index + 1})`, (t) => {
    const parsed = parseConnection(text)
    t.true(E.isLeft(parsed))
    t.false(E.isLeft(parsed) && parsed.left.includes('secret'))
  })

test('positions sort as the log does, checkpoints between events too, and come back', (t) => {
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

test('only the first of the calls that get no answer waits long', (t) => {
  let now = 0
  const patience = createPatience({ usual: 800, short: 200, suspicion: 3000, confirmation: 1500 }, () => now)
  const limits = [patience.limit()]
  for (const passes of [800, 200, 1800, 200]) {
    now += passes
    patience.unanswered()
    limits.push(patience.limit())
  }
  // The suspicion ends by itself: a store that has become slow gets its time again.
  now = 3801
  limits.push(patience.limit())
  patience.unanswered()
  limits.push(patience.limit())
  patience.answered()
  limits.push(patience.limit())
  t.deepEqual(limits, [800, 200, 200, 200, 200, 800, 200, 800])
})
