import test from 'ava'
import { collectEvents, pipelineOf, spokenWords } from '../../../support/pipeline/pipeline-driver.ts'
import { scriptedAudio } from '../../../support/doubles/scripted/script.ts'
import { scriptedEngine } from '../../../support/doubles/scripted/engine.ts'
import { eventLoopTurns } from '../../../support/pipeline/pipeline-stream.ts'

const words = spokenWords('it begins at noon and it ends at one')
const audio = scriptedAudio(words, 2)

test('every pass gets the vocabulary; a changed vocabulary applies from the next pass', async (t) => {
  const engine = scriptedEngine({ words, hasWordTimes: true })
  const [first, second] = [{ prompt: 'Opening hours.', hotwords: ['noon'] }, { prompt: '', hotwords: ['one'] }]
  const pipeline = pipelineOf(engine, collectEvents().events, { vocabulary: first })
  await pipeline.start()
  pipeline.push(audio.subarray(0, 32_000))
  await eventLoopTurns(50)
  const before = engine.jobs.length
  pipeline.setVocabulary(second)
  pipeline.push(audio.subarray(32_000))
  await pipeline.finish(10_000)
  t.true(before > 0 && engine.jobs.length > before)
  t.deepEqual(engine.jobs.map(({ vocabulary }) => vocabulary), engine.jobs.map((_, i) => (i < before ? first : second)))
})

test('without a vocabulary no pass gets a vocabulary', async (t) => {
  const engine = scriptedEngine({ words })
  const pipeline = pipelineOf(engine, collectEvents().events)
  await pipeline.start()
  pipeline.push(audio)
  await pipeline.finish(10_000)
  t.true(engine.jobs.length > 0 && engine.jobs.every((job) => !('vocabulary' in job)))
})
