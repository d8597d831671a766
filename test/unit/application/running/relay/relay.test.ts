import test from 'ava'
import type { LiveSignal } from '../../../../../application/pipeline/signals.ts'
import type { FromWorker, LinkEvents } from '../../../../../application/ports/live-links.ts'
import { openReconnectingLink } from '../../../../../application/running/relay/reconnecting-link.ts'
import type { RemoteSender } from '../../../../../application/running/relay/remote-sender.ts'
import { createRandom } from '../../../../support/tools/seeded.ts'
import { silentLogger } from '../../../../support/doubles/loggers.ts'
import { createRelayApi } from './relay-api.ts'
import { createRelayLog, LIVE } from './relay-log.ts'
import { createRelayWorker } from './relay-worker.ts'
import { startRelay } from './started-relay.ts'

const FINISHED = { status: 'finished', reason: 'finish_route' } as const

test('all listeners of a session share one link, until shortly after the last listener has left', async (t) => {
  const { world, api } = await startRelay()
  t.deepEqual(world.network.standing(), [])
  const listeners = [api.listen(null), api.listen(null), api.listen({ kind: 'after', segment: 0 })]
  await world.pass(500)
  t.deepEqual(world.network.standing(), [['p', 'a', LIVE]])
  for (const listener of listeners) listener.leave()
  await world.pass(29_000)
  t.is(world.network.standing().length, 1, 'the link stays for returning listeners')
  await world.pass(2000)
  t.deepEqual(world.network.standing(), [])
  t.is(api.remote.size(), 0)
})

test('a listener whose position is still in memory costs no read of the log', async (t) => {
  const { world, a, api } = await startRelay()
  for (let n = 0; n < 5; n += 1) a.speak(false, 0)
  world.store.isUnavailable = true
  const listener = api.listen({ kind: 'after', segment: 2 })
  await world.pass(500)
  t.deepEqual(listener.received.map(({ segment }) => segment), [3, 4, 5])
  a.speak(false, 0)
  await world.turns()
  t.deepEqual(
    listener.received.map(({ segment }) => segment),
    [3, 4, 5, 6],
    'a final is sent although the store does not answer',
  )
})

test('listeners follow a moved session to its next worker without closing a socket', async (t) => {
  const { world, a, b, api } = await startRelay()
  const listener = api.listen({ kind: 'after', segment: 0 })
  await world.pass(500)
  a.speak(false, 0)
  await world.turns()
  world.place('b')
  await a.settle()
  await b.settle()
  await world.pass(2000)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(listener.received.map(({ text }) => text), ['1 in term 1', '2 in term 2'])
  t.deepEqual(listener.endings, [])
  t.deepEqual(world.network.standing(), [['p', 'b', LIVE]])
})

test('a late translation by the next worker arrives, although the log holds nothing before it', async (t) => {
  const { world, a, b, api } = await startRelay()
  a.speak(false, 0)
  a.speak(false, 0)
  world.place('b')
  await a.settle()
  await b.settle()
  api.observeMoves()
  // A listener joins while the memory holds only a final that never reaches the log.
  world.store.isUnavailable = true
  b.speak(false, 0)
  const listener = api.listen(null)
  await world.pass(500)
  world.store.isUnavailable = false
  // The next worker stores a late translation of an earlier segment, and no link sends it.
  world.network.cut('p', 'a')
  world.place('a')
  await b.settle()
  await a.settle()
  a.speak(false, 1)
  world.network.mend('p', 'a')
  await world.pass(5000)
  a.speak(false, 0)
  await world.turns()
  // The translation arrives before the next transcription.
  t.deepEqual(
    listener.received.map(({ kind, text }) => `${kind} ${text}`),
    ['translation 2 in term 3', 'transcription 3 in term 3'],
  )
})

test('text that the next worker repeats is sent once, also to listeners that join in between', async (t) => {
  const { world, a, b, api } = await startRelay()
  world.speech.hasSameText = true
  world.store.isUnavailable = true
  a.speak(false, 0)
  const listener = api.listen({ kind: 'after', segment: 0 })
  await world.pass(500)
  world.store.isUnavailable = false
  world.place('b')
  await a.settle()
  await b.settle()
  await world.pass(2000)
  b.speak(false, 0)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(listener.received.map(({ text }) => text), ['1', '2'])
})

test('the end of a session waits for a silent worker, for at most 2 s', async (t) => {
  const { world, a, api } = await startRelay()
  const listener = api.listen({ kind: 'after', segment: 0 })
  await world.pass(500)
  world.network.cut('p', 'a')
  a.speak(false, 0)
  api.remote.ended(LIVE, FINISHED)
  await world.pass(1900)
  t.deepEqual(listener.endings, [])
  await world.pass(200)
  t.deepEqual(listener.received.map(({ segment }) => segment), [1], 'stored text comes first')
  t.deepEqual(listener.endings, ['1000'])
  a.end(FINISHED)
  world.network.mend('p', 'a')
  await world.pass(5000)
  t.deepEqual(listener.endings, ['1000'])
})

test('senders and listeners of a process share one link, so replies and frames arrive in order', async (t) => {
  const steps: Array<string> = []
  let toSender: (message: FromWorker) => void = () => undefined
  const { world, a, api } = await startRelay({
    open: ({ link, term }) => {
      toSender = link.send
      steps.push(`term ${term}`)
      return { message: ({ kind }) => void steps.push(kind), closed: () => void steps.push('closed') }
    },
  })
  const senderLog: Array<string> = []
  const sender: RemoteSender = {
    linkUp: ({ link, term, status }) => {
      senderLog.push(`up in ${term}, ${status}`)
      link.send({ kind: 'sender', requestId: 'r', from: null })
    },
    message: (message) => void senderLog.push(message.kind === 'reply' ? message.frame : message.kind),
    linkDown: (loss) => void senderLog.push(loss),
    over: () => void senderLog.push('over'),
  }
  const release = api.remote.sender(LIVE, sender)
  api.remote.bus.subscribe(LIVE, (signal: LiveSignal) => {
    if (signal.kind === 'transcription') senderLog.push(signal.text)
  })
  await world.turns()
  t.deepEqual(steps, ['term 1', 'sender'])
  toSender({ kind: 'reply', frame: 'before' })
  a.speak(false, 0)
  toSender({ kind: 'reply', frame: 'after' })
  await world.turns()
  t.deepEqual(
    senderLog,
    ['up in 1, active', 'before', '1 in term 1', '1 in term 1', 'after'],
    'a draft, then the final',
  )
  world.network.breakLinks('p', 'a')
  await world.pass(500)
  t.deepEqual(senderLog.slice(5), ['broken', 'up in 1, active'])
  t.deepEqual(steps.slice(2), ['closed', 'term 1', 'sender'])
  a.end(FINISHED)
  await world.turns()
  t.deepEqual(senderLog.slice(7), ['over'])
  release()
})

test('a process receives the frames of its own worker without a copy', async (t) => {
  const world = createRelayLog(createRandom('relay'))
  const a = createRelayWorker(world, 'a')
  world.join(a)
  world.place('a')
  await a.settle()
  const api = createRelayApi(world, 'a', a)
  const signals: Array<LiveSignal> = []
  api.remote.bus.subscribe(LIVE, (signal) => signals.push(signal))
  await world.turns()
  a.speak(false, 0)
  t.is(signals[1], world.produced[0], 'the same object arrives in the same turn')
  t.deepEqual(world.network.standing(), [])
})

test('a worker is ignored when its term is lower than the highest known term', (t) => {
  const world = createRelayLog(createRandom('relay'))
  const peer = { name: 'a', incarnation: 'run of a', address: 'a:1' }
  const events: Array<LinkEvents> = []
  const linkLog: Array<string> = []
  const reconnecting = openReconnectingLink(
    {
      links: {
        open: (_, __, linkEvents) => {
          events.push(linkEvents)
          return { send: () => undefined, buffered: () => 0, close: () => undefined }
        },
      },
      // The log is unavailable, so only the worker itself can announce the second term.
      placements: { of: () => ({ kind: 'member', peer, term: 1 }), refresh: async () => undefined },
      environment: { random: () => 0 },
      timers: world.timers,
      logger: silentLogger,
    },
    LIVE,
    {
      up: ({ term }) => void linkLog.push(`term ${term}`),
      message: () => undefined,
      down: (loss) => void linkLog.push(loss),
    },
    true,
  )
  events[0]?.message({ kind: 'here', term: 2, status: 'active' })
  reconnecting.checkPlacement()
  events[0]?.closed('it broke')
  return world.pass(1000).then(() => {
    t.is(events.length, 2)
    events[1]?.message({ kind: 'here', term: 1, status: 'active' })
    t.deepEqual(linkLog, ['term 2', 'broken', 'elsewhere'])
    reconnecting.stop()
  })
})
