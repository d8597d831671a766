import { cp, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { getPriority } from 'node:os'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createTranslationEngine } from '../../../infrastructure/onnx/process/translation-client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { TINY_MARIAN } from '../../support/models/translators.ts'
import { POISON_TEXT } from '../../support/fixtures/engine/crash-on-poison.ts'

const open = (
  t: ExecutionContext,
  models: Readonly<Record<string, string>> = { tiny: TINY_MARIAN },
  fixture?: 'crash-on-poison',
) => {
  const logger = createRecordingLogger()
  const execArgv =
    fixture === undefined
      ? []
      : ['--import', new URL(`../../support/fixtures/engine/${fixture}.ts`, import.meta.url).href]
  const engine = createTranslationEngine({ models: new Map(Object.entries(models)), logger, execArgv })
  t.teardown(engine.close)
  const translate = (text: string, to = 'fr', model = 'tiny') => engine.translate({ model, text, from: 'en', to })
  return { engine, logger, translate }
}

test('the first job starts the translation process, with a lower priority than the service', async (t) => {
  const { engine, translate } = open(t)
  t.is(engine.pid(), undefined)
  t.deepEqual(await engine.load('tiny'), E.right(undefined))
  const whole = await translate('A winter song. The test')
  const parts = [await translate('A winter song.'), await translate('The test')]
  t.true(parts.every(E.isRight))
  t.deepEqual(
    whole,
    E.right(
      parts
        .map((part) => (E.isRight(part) ? part.right : ''))
        .filter((text) => text !== '')
        .join(' '),
    ),
  )
  t.deepEqual(await translate(''), E.right(''))
  t.notDeepEqual(await translate('the test', 'es'), await translate('the test', 'fr'))
  const pid = engine.pid() ?? 0
  t.not(pid, process.pid)
  t.is(getPriority(pid), Math.min(19, getPriority() + 5))
})

test('a missing, broken or unknown translator fails only its own jobs, and works after its repair', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await cp(TINY_MARIAN, directory.path, { recursive: true })
  await truncate(join(directory.path, 'onnx/decoder_model.onnx'), 1000)
  const { engine, translate } = open(t, {
    tiny: TINY_MARIAN,
    damaged: directory.path,
    missing: join(directory.path, 'nowhere'),
  })
  const expected = await translate('the test')
  for (const model of ['damaged', 'missing', 'unknown']) {
    t.like(await engine.load(model), { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    const [failed, other] = await Promise.all([translate('the test', 'fr', model), translate('the test')])
    t.like(failed, { _tag: 'Left', left: { _tag: 'ModelLoadFailed', model } })
    t.deepEqual(other, expected)
  }
  await cp(TINY_MARIAN, directory.path, { recursive: true })
  t.deepEqual(await translate('the test', 'fr', 'damaged'), expected)
})

test('jobs in flight when the process is killed run again in the next process', async (t) => {
  const { engine, logger, translate } = open(t)
  await engine.load('tiny')
  const expected = await translate('the test')
  const first = engine.pid() ?? 0
  const jobs = Array.from({ length: 8 }, () => translate('the test'))
  process.kill(first, 'SIGKILL')
  t.deepEqual(await Promise.all(jobs), jobs.map(() => expected))
  t.not(engine.pid(), first)
  t.true(
    logger.lines.some(({ message, fields }) => message === 'engine process died' && fields['engine'] === 'translation'),
  )
})

test('only the job that kills the process fails', async (t) => {
  const { engine, translate } = open(t, { tiny: TINY_MARIAN }, 'crash-on-poison')
  await engine.load('tiny')
  const expected = await translate('the test')
  const [before, crashed, after] = await Promise.all([
    translate('the test'),
    translate(POISON_TEXT),
    translate('the test'),
  ])
  t.deepEqual(before, expected)
  t.deepEqual(crashed, E.left({ _tag: 'JobFailed', reason: 'the engine process died during this task (SIGSEGV)' }))
  t.deepEqual(after, expected)
})

test('closing ends the process and its waiting jobs, and later jobs start no process', async (t) => {
  const { engine, translate } = open(t)
  await engine.load('tiny')
  const pid = engine.pid() ?? 0
  const closed = E.left({ _tag: 'JobFailed', reason: 'the engine is closed' })
  const job = translate('the test')
  await engine.close()
  await engine.close()
  t.deepEqual(await job, closed)
  t.deepEqual(await translate('the test'), closed)
  await eventually(() => {
    t.throws(() => process.kill(pid, 0))
  })
  const unused = open(t)
  await unused.engine.close()
  t.deepEqual(await unused.translate('the test'), closed)
  t.is(unused.engine.pid(), undefined)
})
