import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { readWav } from '../../support/audio/wav.ts'
import { SLOW, SLOW_MS } from '../../support/fixtures/engine/stall.ts'

const simon = readWav('test/support/fixtures/engine/simon.wav')
/** A job that takes SLOW_MS longer: its first sample tells the fixture `stall` to wait. */
const slow = { model: 'demo-en', language: 'en', samples: Int16Array.of(SLOW, ...simon.subarray(1)) }
const WITH_STALL = ['--import', new URL('../../support/fixtures/engine/stall.ts', import.meta.url).href]

type Options = Partial<Parameters<typeof createSpeechEngine>[0]>

const open = (options: Options = {}) => {
  const models = new Map([['demo-en', 'models/demo-en']])
  return createSpeechEngine({ models, workers: 2, logger: createRecordingLogger(), execArgv: WITH_STALL, ...options })
}

test('detection works while the tasks of a dead process are repeated in groups', async (t) => {
  const engine = open()
  t.teardown(engine.close)
  await engine.load('demo-en')
  const first = engine.pid() ?? 0
  let answered = 0
  const jobs = Array.from({ length: 4 }, async () => {
    const outcome = await engine.transcribe(slow)
    answered += 1
    return outcome
  })
  await engine.detectSpeech(new Int16Array(512), null)
  process.kill(first, 'SIGSEGV')
  await eventually(() => assert.notEqual(engine.pid() ?? first, first))
  t.true(E.isRight(await engine.detectSpeech(new Int16Array(512), null)))
  t.is(answered, 0, 'detection did not wait for any of the jobs')
  t.true((await Promise.all(jobs)).every(E.isRight))
})

test('a model with a long measured pass gets a longer time limit, so its process is not killed', async (t) => {
  const limits = { detect: 30_000, transcribe: SLOW_MS / 5, load: 30_000, unmeasured: SLOW_MS / 5 }
  const engine = open({ limits, measuredPass: () => SLOW_MS * 5 })
  t.teardown(engine.close)
  await engine.load('demo-en')
  const first = engine.pid()
  const outcomes = await Promise.all([engine.transcribe(slow), engine.transcribe(slow)])
  t.true(outcomes.every(E.isRight), JSON.stringify(outcomes))
  t.is(engine.pid(), first)
})

test('the engine reports fewer lanes after its process received SIGKILL', async (t) => {
  const engine = open()
  t.teardown(engine.close)
  await engine.load('demo-en')
  t.is(engine.deviceOf('demo-en').lanes, 2)
  process.kill(engine.pid() ?? 0, 'SIGKILL')
  t.true(E.isRight(await engine.transcribe(slow)))
  t.is(engine.deviceOf('demo-en').lanes, 1)
})
