import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import { scriptedAudio } from '../../../../support/doubles/scripted/script.ts'
import { createScriptedPipelines } from '../../../../support/doubles/scripted/pipeline.ts'
import { CONFIG, FINISH, framesOf, numberedWords, textOf } from './numbered-words.ts'
import type { RemoteClient } from './remote-client.ts'
import { createSenderWorld, type SenderWorld } from '../../../../simulation/relay/sender-world.ts'

type Options = NonNullable<Parameters<typeof createSenderWorld>[0]>

/** Starts workers `a` and `b`, a session on `a`, and a process without a worker. */
const startWorld = (t: ExecutionContext, options: Options = {}) => {
  const world = createSenderWorld(options)
  t.teardown(world.close)
  world.createWorker('a')
  world.createWorker('b')
  world.join()
  world.place('a')
  return { world, api: world.createApi('api') }
}

/** Connects a sender and sends its config. */
const connectConfigured = async (
  world: SenderWorld,
  api: ReturnType<SenderWorld['createApi']>,
): Promise<RemoteClient> => {
  const client = api.connect()
  await world.pass(1000)
  await client.joining
  client.send(CONFIG)
  await world.pass(100)
  return client
}

/** Sends the audio frames in real time. */
const speak = async (
  world: SenderWorld,
  client: RemoteClient,
  frames: ReadonlyArray<Uint8Array>,
): Promise<void> => {
  for (const frame of frames) {
    client.send(frame)
    await world.pass(100)
  }
}

const [ASR, STARTED] = ['{"status":"ASR process started"}', '{"status":"started"}']

const ONE_SECOND = new Uint8Array(32_000).fill(1)

test('the words of a sender on another process are stored once, and the sender receives its frames', async (t) => {
  const words = numberedWords(20)
  const { world, api } = startWorld(t, { words })
  const client = await connectConfigured(world, api)
  assert.deepEqual(client.received, [ASR, STARTED])
  await speak(world, client, framesOf(scriptedAudio(words, 1)))
  client.send('{"type":"ping"}', FINISH)
  await world.pass(3000)
  t.is(textOf(world.log), textOf(words))
  t.is(client.finals.join(' '), textOf(words))
  t.is(client.ending(), '1000')
  t.deepEqual(client.received.slice(2), ['{"type":"pong"}'])
})

test('during a takeover the socket is not read, and the next worker repeats no answer', async (t) => {
  const words = numberedWords(20)
  const { world, api } = startWorld(t, { words })
  const client = await connectConfigured(world, api)
  const frames = framesOf(scriptedAudio(words, 1))
  await speak(world, client, frames.slice(0, 40))
  world.network.kill('a')
  await world.turns()
  t.true(client.isPaused())
  client.send(...frames.slice(40))
  t.is(client.waiting(), frames.length - 40)
  world.place('b')
  await world.pass(2000)
  t.false(client.isPaused())
  client.send(FINISH)
  await world.pass(8000)
  t.is(textOf(world.log), textOf(words))
  t.deepEqual(client.received, [ASR, STARTED, STARTED])
  t.is(client.ending(), '1000')
})

test('after 15 s without a worker the socket closes with 1012, and TAKEOVER_GRACE begins', async (t) => {
  const { world, api } = startWorld(t, { createPipeline: createScriptedPipelines().create, takeoverGrace: 30_000 })
  const client = await connectConfigured(world, api)
  client.send(ONE_SECOND)
  world.network.cut('api', 'a')
  await world.pass(18_500)
  t.is(client.ending(), null, 'the silence is noticed after 4 s')
  await world.pass(1000)
  t.is(client.ending(), 'server_restart')
  await world.pass(13_500)
  t.deepEqual(world.ends, [])
  await world.pass(1500)
  t.deepEqual(world.ends, [{ status: 'finished', reason: 'sender_closed' }])
})

test('a sent final that is not in the log when its worker dies is sent again by the next worker', async (t) => {
  const words = numberedWords(14)
  const { world, api } = startWorld(t, { words })
  const client = await connectConfigured(world, api)
  const frames = framesOf(scriptedAudio(words, 1))
  await speak(world, client, frames.slice(0, 30))
  world.store.isUnavailable = true
  await speak(world, client, frames.slice(30))
  await world.pass(3000)
  t.true(client.finals.join(' ').includes('w7'), 'the final is sent although it is not stored')
  t.is(textOf(world.log), '')
  world.network.kill('a')
  world.store.isUnavailable = false
  world.place('b')
  await world.pass(2000)
  client.send(FINISH)
  await world.pass(5000)
  t.is(textOf(world.log), textOf(words))
})

test('the sender that a worker admits first keeps the session; another sender is closed with 4409', async (t) => {
  const { world, api } = startWorld(t, { createPipeline: createScriptedPipelines().create })
  const first = await connectConfigured(world, api)
  first.send(ONE_SECOND)
  world.network.kill('a')
  world.network.cut('api', 'b')
  world.place('b')
  const second = world.createApi('other').connect()
  await world.pass(2000)
  t.is(second.refusal(), null)
  world.network.mend('api', 'b')
  await world.pass(3000)
  t.is(first.ending(), 'sender_already_connected')
  t.is(second.ending(), null)
  const third = world.createApi('third').connect()
  await world.pass(1000)
  t.is(third.refusal(), 'already_connected')
})

test('a client with a broken socket may continue within RECONNECT_GRACE, then the session ends', async (t) => {
  const words = numberedWords(20)
  const { world, api } = startWorld(t, { words, reconnectGrace: 10_000 })
  const frames = framesOf(scriptedAudio(words, 1))
  const client = await connectConfigured(world, api)
  await speak(world, client, frames.slice(0, 40))
  client.leave(false)
  await world.pass(5000)
  const returned = world.createApi('other').connect()
  await world.pass(1000)
  await returned.joining
  returned.send(CONFIG)
  await speak(world, returned, frames.slice(40))
  returned.send(FINISH)
  await world.pass(3000)
  t.is(textOf(world.log), textOf(words))
  const withoutGrace = startWorld(t, { createPipeline: createScriptedPipelines().create })
  const lost = await connectConfigured(withoutGrace.world, withoutGrace.api)
  lost.send(ONE_SECOND)
  await withoutGrace.world.pass(200)
  lost.leave(false)
  await withoutGrace.world.pass(1000)
  t.deepEqual(withoutGrace.world.ends, [{ status: 'finished', reason: 'sender_closed' }])
})

test('after the death of a process with sockets, its senders may return on any process', async (t) => {
  const words = numberedWords(20)
  const { world, api } = startWorld(t, { words })
  const frames = framesOf(scriptedAudio(words, 1))
  await speak(world, await connectConfigured(world, api), frames.slice(0, 40))
  world.network.kill('api')
  await world.pass(20_000)
  const returned = world.createApi('other').connect()
  await world.pass(1000)
  returned.send(CONFIG)
  await speak(world, returned, frames.slice(40))
  returned.send(FINISH)
  await world.pass(3000)
  t.is(textOf(world.log), textOf(words))
})

test('audio before a clean close is stored even if the worker dies at that moment', async (t) => {
  const words = numberedWords(6)
  const { world, api } = startWorld(t, { words })
  const client = await connectConfigured(world, api)
  await speak(world, client, framesOf(scriptedAudio(words)))
  world.network.kill('a')
  client.leave(true)
  world.place('b')
  await world.pass(5000)
  t.is(textOf(world.log), textOf(words))
  t.deepEqual(world.ends, [{ status: 'finished', reason: 'sender_closed' }])
})

test('the socket of a too fast sender is not read, and closes after a minute without progress', async (t) => {
  const { world, api } = startWorld(t, { createPipeline: createScriptedPipelines({ consumes: false }).create })
  const client = await connectConfigured(world, api)
  client.send(...Array.from({ length: 40 }, () => ONE_SECOND))
  await world.pass(1000)
  t.true(client.isPaused())
  await world.pass(58_000)
  t.is(client.ending(), null)
  await world.pass(2000)
  t.is(client.ending(), 'audio_too_fast')
  await world.pass(1000)
  t.deepEqual(world.ends, [{ status: 'finished', reason: 'audio_too_fast' }])
})

test('too many control frames and bad frames get the same answers as on a worker without a relay', async (t) => {
  const { world, api } = startWorld(t, { createPipeline: createScriptedPipelines().create })
  const client = await connectConfigured(world, api)
  client.send('nonsense')
  await world.pass(2000)
  t.regex(client.received.at(-1) ?? '', /invalid_message/)
  client.send(...Array.from({ length: 30 }, () => '{"type":"ping"}'))
  await world.pass(1000)
  t.is(client.ending(), 'rate_limited')
})

test('with a full buffer the socket waits 5 seconds for the worker to store text', async (t) => {
  const pipelines = createScriptedPipelines()
  const { world, api } = startWorld(t, { createPipeline: pipelines.create, maxKeptBytes: 10 * ONE_SECOND.length })
  const client = await connectConfigured(world, api)
  client.send(...Array.from({ length: 10 }, () => ONE_SECOND))
  await world.pass(1000)
  t.true(client.isPaused())
  pipelines.of(1).settle(5 * 16_000)
  await world.pass(1500)
  t.false(client.isPaused())
  client.send(...Array.from({ length: 5 }, () => ONE_SECOND))
  await world.pass(1000)
  t.true(client.isPaused())
  await world.pass(6000)
  t.false(client.isPaused(), 'captions continue without buffered audio for a takeover')
  client.send(ONE_SECOND, ONE_SECOND)
  await world.pass(1500)
  t.is(pipelines.of(1).samples(), 17 * 16_000)
})

test('a sender returns through a new link before the worker notices that the old link broke', async (t) => {
  const pipelines = createScriptedPipelines()
  const { world } = startWorld(t, { createPipeline: pipelines.create })
  const handler = world.workers().find(({ name }) => name === 'a')?.served
  const open = async (requestId: string, sample: number | null): Promise<ReadonlyArray<string>> => {
    const kinds: string[] = []
    const link = {
      send: ({ kind }: { readonly kind: string }) => void kinds.push(kind),
      buffered: () => 0,
      close: () => undefined,
    }
    const opened = handler?.open(1, link)
    opened?.message({ kind: 'hello', relay: 1, term: 1, listens: false })
    opened?.message({ kind: 'sender', requestId, from: sample === null ? null : { frame: 5, sample } })
    await world.turns(20)
    return kinds
  }
  t.deepEqual((await open('one', null)).slice(0, 3), ['here', 'admitted', 'covered'])
  t.deepEqual(await open('two', null), ['here', 'refused'])
  t.deepEqual((await open('one', 0)).slice(0, 3), ['here', 'admitted', 'covered'])
})
