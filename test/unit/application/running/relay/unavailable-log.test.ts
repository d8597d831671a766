import test from 'ava'
import { LIVE } from './relay-log.ts'
import { startRelay } from './started-relay.ts'

/** The session has moved to worker `b`, which has sent nothing yet. The log is unavailable. */
const moveDuringOutage = async (hasEarlyListener: boolean) => {
  const started = await startRelay()
  const { world, a, b, api } = started
  a.speak(false, 0)
  const earlyListeners = hasEarlyListener ? [api.listen({ kind: 'after', segment: 0 })] : []
  await world.pass(500)
  world.place('b')
  await a.settle()
  await b.settle()
  api.observeMoves()
  world.store.isUnavailable = true
  return { ...started, listener: earlyListeners[0] ?? api.listen(null) }
}

test('a listener that joins a silent new worker in a log outage receives everything from then on', async (t) => {
  const { world, b, listener } = await moveDuringOutage(false)
  // The process waits this long for the worker, then reads the log itself.
  await world.pass(1500)
  world.store.isUnavailable = false
  await world.pass(2000)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(listener.received.map(({ text }) => text), ['2 in term 2'])
})

test('messages of a worker during a log outage reach a listener before the end', async (t) => {
  const { world, b, api, listener } = await moveDuringOutage(true)
  await world.pass(500)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(listener.received.map(({ text }) => text), ['1 in term 1'], 'the log may contain text that comes first')
  api.remote.ended(LIVE, { status: 'finished', reason: 'finish_route' })
  await world.pass(10_000)
  t.deepEqual(listener.received.map(({ text }) => text), ['1 in term 1', '2 in term 2'])
  t.deepEqual(listener.endings, ['1000'])
})
