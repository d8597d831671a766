import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createLiveBus } from '../../../../../application/pipeline/live-bus.ts'
import type { FromWorker, ToWorker } from '../../../../../application/ports/live-links.ts'
import { createRecentFinals } from '../../../../../application/running/recent-finals.ts'
import { serveLinks } from '../../../../../application/running/relay/serve-links.ts'
import { createRandom } from '../../../../support/tools/seeded.ts'
import { silentLogger } from '../../../../support/doubles/loggers.ts'
import { createRelayLog, LIVE } from './relay-log.ts'

/** Starts the worker side of links. Admission assigns the session to `placed.worker` in term `placed.term`. */
const startServing = (placed: { worker: string; term: number }, buffered = () => 0) => {
  const world = createRelayLog(createRandom('relay'))
  const bus = createLiveBus({ logger: silentLogger })
  const self = { name: 'a', incarnation: 'run of a' }
  world.join({ self }, { self: { name: 'b', incarnation: 'run of b' } })
  for (let term = 0; term < placed.term; term += 1) world.place(placed.worker)
  const view = world.viewOf()
  const takenOverTerms: Array<number> = []
  const served = serveLinks({
    admission: view, worker: self, bus, recent: createRecentFinals(world.timers), logger: silentLogger,
    runs: { termOf: () => null, audioSeconds: () => null },
    takeOver: async (_, term) => {
      takenOverTerms.push(term)
      return E.right({ state: { status: 'active' } })
    },
    endByWorker: (_, { cause }) => (cause.status === 'error' ? null : Promise.resolve({ position: null })),
    senders: { open: () => ({ message: () => undefined, closed: () => undefined }) },
  })
  const open = () => {
    const sent: Array<FromWorker> = []
    const link = { isClosed: false }
    const opened = served.open(LIVE, {
      send: (message) => void sent.push(message),
      buffered,
      close: () => {
        if (link.isClosed) return
        link.isClosed = true
        opened.closed()
      },
    })
    return { sent, link, receive: (message: ToWorker) => opened.message(message) }
  }
  return { world, bus, served, takenOverTerms, view, open }
}

const HELLO = { kind: 'hello', relay: 1, term: 1, listens: true } as const

test('a worker serves a moved session after its fence, and names the worker of other sessions', async (t) => {
  const own = startServing({ worker: 'a', term: 3 })
  const link = own.open()
  link.receive({ ...HELLO, term: 3 })
  await own.world.turns()
  t.deepEqual(own.takenOverTerms, [3])
  t.deepEqual(link.sent, [
    { kind: 'here', term: 3, status: 'active' },
    { kind: 'recent', finals: [], isWhole: false, dropped: [] },
  ])
  own.world.place('b')
  own.view.look()
  own.served.placementChanged([LIVE])
  t.deepEqual(link.sent.at(-1), { kind: 'elsewhere', worker: 'b', term: 4 })
  t.true(link.link.isClosed)
  const lateLink = own.open()
  lateLink.receive({ ...HELLO, term: 3 })
  await own.world.turns()
  t.deepEqual(lateLink.sent, [{ kind: 'elsewhere', worker: 'b', term: 4 }])
  t.is(own.served.size(), 0)
})

test('a worker that does not know the requested term reads admission first', async (t) => {
  const { world, open, takenOverTerms } = startServing({ worker: 'a', term: 1 })
  world.place('a')
  const link = open()
  link.receive({ ...HELLO, term: 2 })
  await world.turns()
  t.deepEqual(link.sent[0], { kind: 'here', term: 2, status: 'active' })
  t.deepEqual(takenOverTerms, [2])
})

test('a link that accepts no frames is closed, and so is a link of an unknown version', async (t) => {
  let buffered = 0
  const { world, bus, open } = startServing({ worker: 'a', term: 1 }, () => buffered)
  const [link, foreign] = [open(), open()]
  link.receive(HELLO)
  foreign.receive({ ...HELLO, relay: 99 })
  await world.turns()
  t.true(foreign.link.isClosed)
  bus.publish(LIVE, { kind: 'started' })
  t.deepEqual(link.sent.slice(1).map(({ kind }) => kind), ['recent', 'signal'])
  t.false(link.link.isClosed)
  buffered = 5 * 1024 * 1024
  bus.publish(LIVE, { kind: 'started' })
  t.true(link.link.isClosed)
})
