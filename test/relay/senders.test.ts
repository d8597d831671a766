import test from 'ava'
import assert from 'node:assert/strict'
import { scriptedAudio } from '../support/scripted-engine.ts'
import type { ScriptedWord } from '../support/scripted-engine.ts'
import { createSenderWorld } from './sender-world.ts'

const CONFIG = '{"type":"config"}'
const FINISH = '{"type":"FINISH"}'

const numbered = (count: number, pause = 0.1): ReadonlyArray<ScriptedWord> =>
  Array.from({ length: count }, (_, i) => ({ text: `w${i + 1}`, pause: i === 0 ? 0.5 : i % 7 === 0 ? 1.5 : pause, seconds: 0.3 }))

const framesOf = (audio: Int16Array, samples = 1600): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(audio.length / samples) }, (_, i) => {
    const part = audio.slice(i * samples, (i + 1) * samples)
    return new Uint8Array(part.buffer)
  })

test('a sender of another process: its words are stored once, it hears what senders hear', async (t) => {
  const words = numbered(20)
  const world = createSenderWorld({ words })
  t.teardown(world.close)
  world.createWorker('a')
  world.join()
  world.place('a')
  const client = world.createApi('api').connect()
  await world.pass(1000)
  await client.coming
  client.send(CONFIG)
  await world.pass(200)
  assert.deepEqual(client.received, ['{"status":"ASR process started"}', '{"status":"started"}'])
  for (const frame of framesOf(scriptedAudio(words, 1))) {
    client.send(frame)
    await world.pass(100)
  }
  client.send(FINISH)
  await world.pass(3000)
  t.is(world.log.map(({ text }) => text).join(' '), words.map(({ text }) => text).join(' '))
  t.deepEqual(client.finals.join(' '), world.log.map(({ text }) => text).join(' '))
  t.is(client.ending(), '1000')
})
