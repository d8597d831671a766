import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { TEST_PROVIDER } from '../../../infrastructure/onnx/providers/engine-environment.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { readWav } from '../../support/audio/wav.ts'

/** 32-bit weights, which a GPU runs. */
const MODEL = 'test/support/fixtures/engine/tiny-whisper'
const clips = ['simon', 'sheep', 'simon', 'sheep'].map((name) => readWav(`test/support/fixtures/engine/${name}.wav`))

const FAILURES = [
  { named: 'is lost', mode: 'lost', device: 'gpu' },
  { named: 'has no memory left', mode: 'full', device: 'cpu' },
  { named: 'brings its process down', mode: 'once', device: 'gpu' },
] as const

for (const { named, mode, device } of FAILURES)
  test(`no text is lost when a GPU ${named}`, async (t) => {
    const directory = await temporaryDirectory()
    t.teardown(directory.remove)
    const start = (fixture: ReadonlyArray<string>) => {
      const logger = createRecordingLogger()
      const engine = createSpeechEngine({ models: new Map([['tiny', MODEL]]), workers: 1, logger, execArgv: fixture })
      t.teardown(engine.close)
      const transcribeAll = async () => {
        const outcomes = await Promise.all(
          clips.map(async (samples) => engine.transcribe({ model: 'tiny', language: 'en', samples })),
        )
        return outcomes.map((outcome) => (E.isRight(outcome) ? outcome.right.segments : outcome.left.reason))
      }
      return { engine, transcribeAll, logger }
    }
    const fixture = new URL(
      `../../support/fixtures/engine/failing-gpu.ts?${mode}=${join(directory.path, 'aborted')}`,
      import.meta.url,
    ).href
    process.env[TEST_PROVIDER] = 'cpu'
    const healthy = start([])
    process.env[TEST_PROVIDER] = 'webgpu'
    const failing = start(['--import', fixture])
    t.true(E.isRight(await failing.engine.load('tiny')))
    t.is(failing.engine.deviceOf('tiny').name, 'gpu')
    const pid = failing.engine.pid()
    const expected = await healthy.transcribeAll()
    t.deepEqual(await failing.transcribeAll(), expected)
    t.deepEqual(await failing.transcribeAll(), expected)
    t.is(failing.engine.deviceOf('tiny').name, device)
    t.is(failing.engine.pid() === pid, mode !== 'once')
  })

test('the GPU memory of a model is the increase that the driver reports', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const driver = `#!/bin/sh\nif [ -e ${path}/asked ]; then used=1600; else used=1000; fi\n` +
    `touch ${path}/asked\necho "A GPU, 8192, $used"\n`
  await writeFile(join(path, 'nvidia-smi'), driver, { mode: 0o755 })
  const { PATH } = process.env
  t.teardown(() => (process.env['PATH'] = PATH))
  process.env['PATH'] = `${path}:${PATH}`
  process.env[TEST_PROVIDER] = 'webgpu'
  const tried = await tryModel(MODEL, [
    '--import',
    new URL('../../support/fixtures/engine/failing-gpu.ts', import.meta.url).href,
  ])
  t.like(E.toUnion(tried), { megabytes: 600 })
})
