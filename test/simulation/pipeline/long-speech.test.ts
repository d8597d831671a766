import test from 'ava'
import { collectEvents, pipelineOf, spokenWords } from '../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio } from '../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../support/doubles/scripted/engine.ts'
import { eventLoopTurns } from '../../support/pipeline/pipeline-stream.ts'

test('an hour of speech at full speed is transcribed completely, in few passes and bounded jobs', async (t) => {
  const sentence = spokenWords('this is sentence number', 0.8)
  const words = Array.from({ length: 1200 }, (_, i) => [
    ...sentence,
    { text: `${i}`, pause: 0.05, seconds: 0.4 },
  ]).flat()
  const audio = scriptedAudio(words, 1)
  const engine = scriptedEngine({ words, windowSeconds: 30 })
  const { finals, events } = collectEvents()
  const pipeline = pipelineOf(engine, events)
  await pipeline.start()
  let highest = 0
  for (let at = 0; at < audio.length; at += 160_000) {
    pipeline.push(audio.subarray(at, at + 160_000))
    highest = Math.max(highest, pipeline.backlogSeconds())
    while (pipeline.backlogSeconds() > 20) await eventLoopTurns(1)
  }
  await pipeline.finish(600_000)
  t.is(finals.map(({ text }) => text).join(' '), words.map(({ text }) => text).join(' '))
  t.true(highest <= 30 + 1)
  t.true(engine.jobs.every(({ samples }) => samples.length <= 10 * 16000))
  t.true(engine.jobs.length <= 3 * 1200)
})
