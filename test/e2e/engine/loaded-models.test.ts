import { cp, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { createLoadedModels } from '../../../infrastructure/onnx/loaded-models.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'

const simon = readWav('test/support/fixtures/engine/simon.wav')

test('a run without enough memory fails, and other runs of the same process do not', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await cp('test/support/fixtures/engine/tiny-whisper', directory.path, { recursive: true })
  await cp('test/support/fixtures/engine/hungry-whisper.onnx', join(directory.path, 'onnx/encoder_model.onnx'))
  const models = new Map([['demo-en', 'models/demo-en'], ['hungry', directory.path]])
  const engine = createSpeechEngine({ models, workers: 2, logger: createRecordingLogger() })
  t.teardown(engine.close)
  const transcribe = (model: string) => engine.transcribe({ model, language: 'en', samples: simon })
  t.true(E.isRight(await engine.load('hungry')))
  const pid = engine.pid()
  const [hungry, other] = await Promise.all([transcribe('hungry'), transcribe('demo-en')])
  t.regex(E.isLeft(hungry) ? hungry.left.reason : '', /Failed to allocate memory/)
  t.true(E.isRight(other) && other.right.segments.length === 1)
  t.is(engine.pid(), pid)
})

test('after a failed allocation the model is loaded again, and the run is repeated exactly once', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const events: Array<string> = []
  const models = createLoadedModels(async () => {
    events.push('loaded')
    return E.right({ release: async () => void events.push('released') })
  })
  const run = (outcomes: ReadonlyArray<string>) => {
    const remaining = [...outcomes]
    return models.use('any', directory.path, async () => {
      const outcome = remaining.shift() ?? ''
      events.push(outcome)
      if (outcome !== 'text') throw new Error(outcome)
      return outcome
    })
  }
  t.deepEqual(await run(['std::bad_alloc', 'text']), E.right('text'))
  t.deepEqual(events, ['loaded', 'std::bad_alloc', 'released', 'loaded', 'text'])
  await t.throwsAsync(
    run(['Failed to allocate memory', 'Failed to allocate memory', 'text']),
    { message: /allocate/ },
    'the run is not repeated a second time',
  )
  await t.throwsAsync(run(['another fault', 'text']), { message: 'another fault' })
})

test('when a GPU is lost, all models are released and the run is repeated', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  let [opened, released] = [0, 0]
  const models = createLoadedModels(async () => {
    opened += 1
    return E.right({ release: async () => void (released += 1) })
  })
  await models.load('other', directory.path)
  // The messages of onnxruntime 1.30: two with WebGPU (Dawn), one with CUDA.
  const reasons = [
    'Failed to download data from buffer. wgpu::MapAsyncStatus value: 4, message: [Device] is lost.',
    'WebGPU device lost (Unknown): the driver was reset',
    'CUDA failure 719: unspecified launch failure',
  ]
  for (const [index, reason] of reasons.entries()) {
    let isLost = true
    const text = await models.use('any', directory.path, async () => {
      if (isLost) {
        isLost = false
        throw new Error(reason)
      }
      return 'text'
    })
    t.deepEqual([text, opened, released], [E.right('text'), 3 + index, 2 + index])
  }
})

test('a model with a replaced folder is loaded again, and a model with a deleted folder still serves', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const folder = join(directory.path, 'model')
  let loads = 0
  let released = 0
  const models = createLoadedModels(async () =>
    E.right({ number: (loads += 1), release: async () => void (released += 1) }),
  )
  /** Returns the number of the load that serves the model, or the reason of a failure. */
  const numberOf = async (path: string | null) => {
    const loaded = await models.load('any', path)
    return E.isLeft(loaded) ? loaded.left.reason : loaded.right.number
  }
  t.is(await numberOf(null), 'the model is not installed')
  await mkdir(folder)
  t.is(await numberOf(folder), 1)
  await mkdir(join(folder, 'onnx'))
  t.is(await numberOf(folder), 1, 'a file was added to the same folder')
  await rename(folder, `${folder}-old`)
  t.is(await numberOf(folder), 1)
  t.is(await numberOf(null), 1)
  await mkdir(folder)
  t.is(await numberOf(folder), 2)
  t.is(released, 1)
})
