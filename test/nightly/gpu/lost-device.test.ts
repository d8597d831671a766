import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { TEST_PROVIDER } from '../../../infrastructure/onnx/providers/engine-environment.ts'
import { readWav } from '../../support/audio/wav.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { SWIFTSHADER, SWIFTSHADER_ENVIRONMENT } from '../../support/webgpu/swiftshader.ts'

const COMPILER = '/usr/bin/cc'
const simon = readWav('test/support/fixtures/engine/simon.wav')

/**
 * Builds a Vulkan driver whose device is lost once after the file at `flag` is written. Resolves to the path of the
 * driver's description.
 */
const driverIn = async (folder: string, flag: string): Promise<string> => {
  const [library, description] = [join(folder, 'lost-device.so'), join(folder, 'icd.json')]
  const original = join(dirname(SWIFTSHADER), 'libvk_swiftshader.so')
  const options = [`-DSWIFTSHADER="${original}"`, `-DFLAG="${flag}"`, '-o', library]
  await promisify(execFile)(COMPILER, ['-shared', '-fPIC', ...options, 'test/support/webgpu/lost-device.c', '-ldl'])
  const ICD = { library_path: library, api_version: '1.0.5' }
  await writeFile(description, JSON.stringify({ file_format_version: '1.0.0', ICD }))
  return description
}

testWith(SWIFTSHADER, COMPILER)(
  'after the loss of its device WebGPU continues with a new device, and no text is lost',
  async (t) => {
    t.timeout(300_000)
    const directory = await temporaryDirectory()
    t.teardown(directory.remove)
    const flag = join(directory.path, 'flag')
    const driver = await driverIn(directory.path, flag)
    Object.assign(process.env, SWIFTSHADER_ENVIRONMENT, { VK_DRIVER_FILES: driver, [TEST_PROVIDER]: 'webgpu' })
    const logger = createRecordingLogger()
    const models = new Map([['tiny', 'test/support/fixtures/engine/tiny-whisper']])
    const engine = createSpeechEngine({ models, workers: 1, logger })
    t.teardown(engine.close)
    t.true(E.isRight(await engine.load('tiny')))
    const pid = engine.pid()

    const transcribed = async () => {
      const outcome = await engine.transcribe({ model: 'tiny', language: 'en', samples: simon })
      return E.isRight(outcome) ? outcome.right.segments : outcome.left.reason
    }
    const expected = await transcribed()
    for (let loss = 0; loss < 2; loss += 1) {
      await writeFile(flag, '')
      t.deepEqual(await transcribed(), expected)
      t.false(existsSync(flag), 'the device was lost')
      t.is(engine.deviceOf('tiny').name, 'gpu')
    }
    t.is(engine.pid(), pid, 'the process still runs')
    t.deepEqual(logger.lines.filter(({ level }) => level !== 'info'), [])
  },
)
