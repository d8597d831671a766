import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { listInstalled } from '../../../application/catalogue/commands/list-installed.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { openCatalogue } from '../../../infrastructure/catalogue/catalogue.ts'
import { tryModel } from '../../../infrastructure/catalogue/trial.ts'
import { verifyFolder } from '../../../infrastructure/catalogue/verify-folder.ts'
import { createSpeechEngine } from '../../../infrastructure/onnx/process/engine-client.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { readWav } from '../../support/audio/wav.ts'
import { SETTINGS, WEIGHTS } from '../../support/fixtures/engine/word-list-family.ts'

const WITH_FAMILY = ['--import', new URL('../../support/fixtures/engine/word-list-family.ts', import.meta.url).href]
const WEIGHT_BYTES = 3_000_000
const DEMO = 'models/demo-en'

/**
 * Makes a directory with the folders of two models. `listed` has the files of the second family (word-list). `other`
 * has a config.json of an unknown type. `config` replaces settings of `listed`.
 */
const install = async (t: ExecutionContext, config: object = {}) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const [listed, other] = [join(directory.path, 'listed'), join(directory.path, 'other')]
  await mkdir(listed)
  await mkdir(other)
  const settings = { languages: ['en', 'fr'], words: ['one', 'two', 'three'], least_seconds: 0, ...config }
  await writeFile(join(listed, SETTINGS), JSON.stringify(settings))
  await writeFile(join(listed, WEIGHTS), Buffer.alloc(WEIGHT_BYTES))
  await writeFile(join(other, 'config.json'), '{"model_type":"bart"}')
  return { directory: directory.path, listed, other }
}

const FAMILIES = 'only whisper, marian and word-list models can be run'
const UNKNOWN_TYPE = `config.json says that it is a model of the type bart: ${FAMILIES}`

const engineOf = (t: ExecutionContext, models: Readonly<Record<string, string>>, execArgv: ReadonlyArray<string>) => {
  const logger = createRecordingLogger()
  const engine = createSpeechEngine({ models: new Map(Object.entries(models)), workers: 1, logger, execArgv })
  t.teardown(engine.close)
  const transcribe = async (model: string, samples: Int16Array, language = 'en') => {
    const result = await engine.transcribe({ model, language, samples })
    return E.isLeft(result) ? result.left.reason : result.right.segments.map(({ text }) => text.trim()).join('; ')
  }
  return { engine, transcribe }
}

test('the layout of a folder selects the second family, and the engine runs it', async (t) => {
  const { listed, other } = await install(t)
  const { engine, transcribe } = engineOf(t, { listed, other, 'demo-en': DEMO }, WITH_FAMILY)
  t.deepEqual(await engine.load('listed'), E.right({ windowSeconds: 20 }))
  t.is(await transcribe('listed', new Int16Array(2 * SAMPLE_RATE)), 'one two')
  t.is(await transcribe('demo-en', readWav('test/support/fixtures/engine/simon.wav')), 'Simon came easily in February.')
  t.is(await transcribe('listed', new Int16Array(3 * SAMPLE_RATE), 'fr'), 'one two three')
  t.is(await transcribe('listed', new Int16Array(SAMPLE_RATE), 'de'), 'not one of en,fr')
  t.is(await transcribe('other', new Int16Array(SAMPLE_RATE)), UNKNOWN_TYPE)
})

test('a folder of an unknown family is refused, and the error names the known families', async (t) => {
  const { listed } = await install(t)
  const translator = 'models/translate-en-es'
  const { transcribe } = engineOf(t, { listed, translator, missing: join(listed, 'missing') }, [])
  const refused = 'config.json is missing: only whisper and marian models can be run'
  t.is(await transcribe('listed', new Int16Array(SAMPLE_RATE)), refused)
  t.is(await transcribe('translator', new Int16Array(SAMPLE_RATE)), 'it holds a translator (marian)')
  t.is(await transcribe('missing', new Int16Array(SAMPLE_RATE)), 'the folder is missing')
})

test('the catalogue lists a model of a second family with its languages and memory', async (t) => {
  const { directory: modelsDir, other } = await install(t)
  const logger = createRecordingLogger()
  const store = createMemoryEventStore()
  const list = listInstalled({ store, environment: createTestEnvironment(), logger })
  const catalogue = await openCatalogue({ listInstalled: list, logger, modelsDir, bundledDir: 'models' })
  const listed = { name: 'listed', active: true, vram: 8, languages: ['en', 'fr'], findsLanguage: false }
  t.like(catalogue.models().at(-1), listed)
  t.deepEqual(logger.lines.map(({ fields }) => [fields['folder'], fields['reason']]), [[other, UNKNOWN_TYPE]])
})

test('a model of a second family is verified, and its trial uses the longest audio that it accepts', async (t) => {
  const { listed, other } = await install(t, { least_seconds: 20 })
  const trial = await tryModel(listed, WITH_FAMILY)
  t.true(E.isRight(trial) && trial.right.weights === WEIGHT_BYTES, JSON.stringify(trial))
  const whole = await verifyFolder(listed, WITH_FAMILY)
  t.deepEqual(whole.files.map(({ path, state }) => [path, state]), [[SETTINGS, 'ok'], [WEIGHTS, 'ok']])
  t.is(whole.problem, null)
  t.true(whole.kept)
  await rm(join(listed, WEIGHTS))
  t.like(await verifyFolder(listed, WITH_FAMILY), { problem: 'words.bin is missing', trial: null })
  const unknown = await verifyFolder(other)
  t.deepEqual(unknown.files.map(({ path, state }) => [path, state]), [['config.json', 'ok']])
  t.is(unknown.problem, UNKNOWN_TYPE)
})
