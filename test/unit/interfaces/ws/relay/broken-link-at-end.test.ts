import test from 'ava'
import { scriptedAudio } from '../../../../support/doubles/scripted/script.ts'
import { CONFIG, FINISH, framesOf, numberedWords, textOf } from './numbered-words.ts'
import { createSenderWorld } from '../../../../simulation/relay/sender-world.ts'

test('a sender whose link breaks after its last audio receives all its text and the end', async (t) => {
  const words = numberedWords(6)
  const world = createSenderWorld({ words })
  t.teardown(world.close)
  world.createWorker('a')
  world.join()
  world.place('a')
  const client = world.createApi('api').connect()
  await world.pass(1000)
  client.send(CONFIG)
  await world.pass(100)
  world.store.isUnavailable = true
  client.send(...framesOf(scriptedAudio(words, 1)), FINISH)
  await world.pass(100)
  world.network.breakLinks('api', 'a')
  await world.pass(1500)
  world.store.isUnavailable = false
  await world.pass(5000)
  t.is(client.finals.join(' '), textOf(words))
  t.is(client.ending(), '1000')
})
