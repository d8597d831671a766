import test from 'ava'
import { startCluster } from '../../support/cluster/cluster.ts'
import { listenTo, sendWords, speakerAt, storedNumbers, upTo } from '../../support/cluster/numbered-session.ts'

const WORDS = 30

test.serial('one process stores and sends every numbered word once', async (t) => {
  t.timeout(300_000)
  const cluster = await startCluster(t)
  const one = await cluster.add('one')
  const speaker = await speakerAt(one.url())
  const live = await speaker.createLive({ live_retention: true })
  const listener = listenTo(live, [one.url])
  const sender = await sendWords(one.url(), live, WORDS, 4)
  t.is(await sender.ended, 1000)
  await listener.ended
  t.deepEqual(listener.finals(), upTo(WORDS))
  t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS))
})

test.serial('clients of two API processes send to, listen to and end a session of a worker', async (t) => {
  t.timeout(300_000)
  const cluster = await startCluster(t)
  await Promise.all([cluster.add('worker', 'worker'), cluster.add('lists', 'projector')])
  const [one, two] = [await cluster.add('api-1', 'api'), await cluster.add('api-2', 'api')]
  const speaker = await speakerAt(one.url())
  const live = await speaker.createLive({ live_retention: true })
  const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
  const sender = await sendWords(two.url(), live, WORDS, 4)
  t.is(await sender.ended, 1000)
  for (const listener of listeners) {
    await listener.ended
    t.deepEqual(listener.finals(), upTo(WORDS))
  }
  t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS))
})
