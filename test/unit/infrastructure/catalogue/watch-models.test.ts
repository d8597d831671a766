import { appendFile, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { lookAtModels, watchModels } from '../../../../infrastructure/catalogue/watch-models.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const TINY = 'test/support/fixtures/engine/tiny-whisper'

/** Watches a models directory. Each `look` waits for one check and returns the number of scans so far. */
const watching = async (t: ExecutionContext, rescan: () => Promise<void> = async () => undefined) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const modelsDir = join(directory.path, 'models')
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  let rescans = 0
  const seen = await lookAtModels(modelsDir)
  const countedRescan = async (): Promise<void> => {
    rescans += 1
    await rescan()
  }
  const { stop } = watchModels({ modelsDir, seen, rescan: countedRescan, timers, logger })
  t.teardown(stop)
  const look = async (): Promise<number> => {
    timers.advance(5000)
    // The watcher schedules its next check after this check has ended.
    await eventually(() => {
      if (timers.size() === 0) throw new Error('the check still runs')
    })
    return rescans
  }
  return { modelsDir, look, logger }
}

test('only a new, changed or removed model starts a scan, once its files are stable', async (t) => {
  const { modelsDir, look } = await watching(t)
  t.is(await look(), 0, 'the directory does not exist')
  await cp(TINY, join(modelsDir, 'tiny'), { recursive: true })
  t.is(await look(), 0, 'the copy may be unfinished')
  t.is(await look(), 1)
  t.is(await look(), 1)
  await mkdir(join(modelsDir, '.pulling'))
  await writeFile(join(modelsDir, '.pulling', 'config.json'), '{}')
  for (let n = 0; n < 3; n += 1) t.is(await look(), 1, 'the folder is no model yet')
  for (let n = 0; n < 3; n += 1) {
    await appendFile(join(modelsDir, 'tiny', 'onnx', 'encoder_model.onnx'), 'more')
    t.is(await look(), 1, 'the folder still grows')
  }
  t.is(await look(), 2)
  await rename(join(modelsDir, '.pulling'), join(modelsDir, 'pulled'))
  for (const expected of [2, 3, 3]) t.is(await look(), expected)
  await rm(join(modelsDir, 'tiny'), { recursive: true })
  for (const expected of [3, 4, 4]) t.is(await look(), expected)
})

test('a failed scan is repeated at the next check', async (t) => {
  let isUnavailable = true
  const { modelsDir, look, logger } = await watching(t, async () => {
    if (isUnavailable) throw new Error('the catalogue cannot be read')
  })
  await mkdir(join(modelsDir, 'model'), { recursive: true })
  for (const expected of [0, 1, 2]) t.is(await look(), expected)
  t.deepEqual(logger.lines.map(({ level }) => level), ['warn', 'warn'])
  isUnavailable = false
  for (const expected of [3, 3]) t.is(await look(), expected)
})
