import test from 'ava'
import { LIVE } from './relay-log.ts'
import { startRelay } from './started-relay.ts'

/** The live has gone on to `b`, which has told nothing yet, and the log is away once that is linked. */
const movedWhileLogIsAway = async (isHeardBefore: boolean) => {
  const started = await startRelay()
  const { world, a, b, api } = started
  a.speak(false, 0)
  const before = isHeardBefore ? [api.listen({ kind: 'after', segment: 0 })] : []
  await world.pass(500)
  world.place('b')
  await a.settle()
  await b.settle()
  api.hearMoves()
  world.store.isAway = true
  return { ...started, listener: before[0] ?? api.listen(null) }
}

test('a listener that joins a silent new worker during a slow log receives everything from then on', async (t) => {
  const { world, b, listener } = await movedWhileLogIsAway(false)
  // When it has waited so long for the worker that it asks the log itself.
  await world.pass(1500)
  world.store.isAway = false
  await world.pass(2000)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(
    listener.heard.map(({ text }) => text),
    ['2 in term 2'],
  )
})

test('messages of a worker during a log outage reach a listener before the end', async (t) => {
  const { world, b, api, listener } = await movedWhileLogIsAway(true)
  await world.pass(500)
  b.speak(false, 0)
  await world.turns()
  t.deepEqual(listener.heard.map(({ text }) => text), ['1 in term 1'], 'what may lie in between comes first')
  api.remote.ended(LIVE, { status: 'finished', reason: 'finish_route' })
  await world.pass(10_000)
  t.deepEqual(listener.heard.map(({ text }) => text), ['1 in term 1', '2 in term 2'])
  t.deepEqual(listener.endings, ['1000'])
})
