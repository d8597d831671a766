import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import {
  DEMO, SHEEP, SIMON, hasEnded, isAlive, openEngine, sheep, simon, textOf, transcribe,
} from '../../support/engine/test-engine.ts'

/** Shared by the tests that do not end its process. */
const sharedEngine = createSpeechEngine({
  models: new Map([['demo-en', DEMO]]),
  workers: 2,
  logger: createRecordingLogger(),
})
test.after.always(() => sharedEngine.close())

test('the model that ships transcribes synthetic speech through the engine process', async (t) => {
  t.is(sharedEngine.deviceOf('demo-en').lanes, 2)
  t.deepEqual(await sharedEngine.load('demo-en'), E.right({ windowSeconds: 10 }))
  t.is(textOf(await transcribe(sharedEngine, simon)), SIMON)
  t.is(textOf(await transcribe(sharedEngine, sheep)), SHEEP)
})

test('jobs of several sessions do not mix', async (t) => {
  const jobs = Array.from({ length: 8 }, (_, index) => transcribe(sharedEngine, index % 2 === 0 ? simon : sheep))
  const texts = (await Promise.all(jobs)).map(textOf)
  t.deepEqual(texts, texts.map((_, index) => (index % 2 === 0 ? SIMON : SHEEP)))
})

test('detection frame by frame, for two sessions in turn, equals detection in the whole audio', async (t) => {
  const detect = async (samples: Int16Array, state: Float32Array | null) => {
    const outcome = await sharedEngine.detectSpeech(samples, state)
    if (E.isLeft(outcome)) throw new Error(outcome.left.reason)
    return outcome.right
  }
  const speech = simon.subarray(0, simon.length - (simon.length % 512))
  const whole = (await detect(speech, null)).probabilities
  t.true(whole.filter((probability) => probability > 0.5).length > whole.length / 2)
  const silent = (await detect(new Int16Array(speech.length), null)).probabilities
  t.true(silent.every((probability) => probability < 0.2))

  let speechState: Float32Array | null = null
  let silenceState: Float32Array | null = null
  for (let frame = 0; frame < whole.length; frame++) {
    const inSpeech = await detect(speech.subarray(frame * 512, (frame + 1) * 512), speechState)
    const inSilence = await detect(new Int16Array(512), silenceState)
    t.is(inSpeech.probabilities[0], whole[frame])
    t.is(inSilence.probabilities[0], silent[frame])
    speechState = inSpeech.state
    silenceState = inSilence.state
  }
  // The state has two parts: the memory of the network (256 numbers), and the samples right before the frame.
  const middle = speech.subarray(512 * 20, 512 * 21)
  t.not((await detect(middle, null)).probabilities[0], whole[20], 'without the state the probability differs')
  const [state, length] = [speechState, speechState?.length ?? 0]
  const withoutMemory = Float32Array.from({ length }, (_, i) => (i < 256 ? 0 : (state?.[i] ?? 0)))
  t.notDeepEqual((await detect(middle, withoutMemory)).probabilities, (await detect(middle, state)).probabilities)
  const uneven = await sharedEngine.detectSpeech(new Int16Array(500), null)
  t.deepEqual(uneven, E.left({ _tag: 'JobFailed', reason: '500 samples are not a multiple of the frame length 512' }))
})

test('an invalid job fails, and the job next to it does not', async (t) => {
  const french = () => sharedEngine.transcribe({ model: 'demo-en', language: 'fr', samples: simon })
  const [wrong, right] = await Promise.all([french(), transcribe(sharedEngine, simon)])
  t.deepEqual(wrong, E.left({ _tag: 'JobFailed', reason: 'the model does not know the language fr' }))
  t.is(textOf(right), SIMON)
})

test('a cancelled job returns no text, and other jobs return their texts', async (t) => {
  const cancellation = new AbortController()
  const jobs = Array.from({ length: 4 }, () =>
    sharedEngine.transcribe({ model: 'demo-en', language: 'en', samples: simon }, cancellation.signal),
  )
  const uncancelled = transcribe(sharedEngine, simon)
  cancellation.abort()
  for (const outcome of await Promise.all(jobs))
    t.deepEqual(outcome, E.left({ _tag: 'JobFailed', reason: 'it was cancelled' }))
  t.is(textOf(await uncancelled), SIMON)
})

test('a truncated or missing model fails without harm to others, and loads after its repair', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await cp(DEMO, directory.path, { recursive: true })
  await truncate(join(directory.path, 'onnx/decoder_with_past_model_quantized.onnx'), 700_000)
  const missing = join(directory.path, 'nowhere')
  const { engine } = openEngine(t, {
    models: new Map([
      ['demo-en', DEMO],
      ['damaged', directory.path],
      ['missing', missing],
    ]),
  })

  for (const model of ['damaged', 'missing', 'unknown']) {
    const [loaded, job, other] = await Promise.all([
      engine.load(model),
      transcribe(engine, simon, model),
      transcribe(engine, simon),
    ])
    t.like(loaded, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    t.like(job, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    t.is(textOf(other), SIMON)
  }
  await cp(DEMO, directory.path, { recursive: true })
  t.deepEqual(await engine.load('damaged'), E.right({ windowSeconds: 10 }))
  t.is(textOf(await transcribe(engine, sheep, 'damaged')), SHEEP)
})

test('a terminal’s Ctrl-C does not end the engine; closing ends it and its waiting jobs', async (t) => {
  const { engine } = openEngine(t)
  await engine.load('demo-en')
  const pid = engine.pid() ?? 0
  process.kill(pid, 'SIGINT')
  process.kill(pid, 'SIGTERM')
  t.is(textOf(await transcribe(engine, simon)), SIMON)
  t.is(engine.pid(), pid)

  const job = transcribe(engine, simon)
  await engine.close()
  await engine.close()
  t.false(isAlive(pid))
  t.deepEqual(await job, E.left({ _tag: 'JobFailed', reason: 'the engine is closed' }))
  t.deepEqual(await transcribe(engine, simon), E.left({ _tag: 'JobFailed', reason: 'the engine is closed' }))
})

test('onnxruntime sends no telemetry: the engine process opens no telemetry file', async (t) => {
  const { engine } = openEngine(t)
  await engine.load('demo-en')
  const folder = `/proc/${engine.pid()}/fd`
  const files = await Promise.all((await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')))
  t.deepEqual(files.filter((file) => file.includes('.onnxruntime')), [])
})

test('the engine process does not outlive a service that was killed', async (t) => {
  const owner = spawn(process.execPath, ['test/support/fixtures/engine/engine-owner.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
  const pid = Number(line)
  t.true(isAlive(pid))
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  await eventually(async () => {
    if (!(await hasEnded(pid))) throw new Error(`engine process ${pid} still runs`)
  })
  t.pass()
})
