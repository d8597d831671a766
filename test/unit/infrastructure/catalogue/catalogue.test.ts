import { cp, rm, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { listInstalled } from '../../../../application/catalogue/commands/list-installed.ts'
import { openCatalogue } from '../../../../infrastructure/catalogue/catalogue.ts'
import { MANIFEST_FILE, writeManifest } from '../../../../infrastructure/onnx/model-files/manifest.ts'
import { findWeights } from '../../../../infrastructure/onnx/model-weights.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'

const TINY = 'test/support/fixtures/engine/tiny-whisper'
const FIVE = ['tiny', 'medium', 'large_v1', 'large_v2', 'large-v3']

const install = async (t: ExecutionContext, folders: Readonly<Record<string, string>>): Promise<string> => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  for (const [name, source] of Object.entries(folders))
    await cp(source, join(directory.path, name), { recursive: true })
  return directory.path
}

const openWith = async (modelsDir: string | null, store = createMemoryEventStore()) => {
  const logger = createRecordingLogger()
  const catalogue = await openCatalogue({
    listInstalled: listInstalled({ store, environment: createTestEnvironment(), logger }),
    logger,
    modelsDir,
    bundledDir: 'models',
  })
  return { catalogue, logger, store, names: catalogue.models().map(({ name }) => name) }
}

test('a fresh machine lists the five names as inactive and the shipped model as active', async (t) => {
  const { catalogue, names } = await openWith(null)
  t.deepEqual(names, [...FIVE, 'demo-en'])
  t.deepEqual(catalogue.models().map(({ id }) => id), [1, 2, 3, 4, 5, 6])
  t.deepEqual(catalogue.models().map(({ active }) => active), [false, false, false, false, false, true])
  for (const { vram, createdAt } of catalogue.models()) {
    t.true(Number.isInteger(vram) && vram > 0)
    t.regex(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  }
  t.deepEqual(catalogue.models().at(-1)?.languages, ['en'])
  t.deepEqual([...catalogue.speech.models], [['demo-en', join('models', 'demo-en')]])
})

test('98 languages with two-letter codes are listed, English first, Javanese as jv', async (t) => {
  const rows = (await openWith(null)).catalogue.languages()
  t.is(rows.length, 98)
  t.deepEqual(rows.map(({ id }) => id), Array.from({ length: 98 }, (_, index) => index + 1))
  t.is(new Set(rows.map(({ iso }) => iso)).size, 98)
  t.is(new Set(rows.map(({ name }) => name)).size, 98)
  t.true(rows.every(({ iso, name }) => /^[a-z]{2}$/.test(iso) && /^[A-Z][A-Za-z ]+$/.test(name)))
  t.like(rows[0], { iso: 'en', name: 'English', active: true })
  t.like(rows.find(({ iso }) => iso === 'jv'), { name: 'Javanese' })
  t.like(rows.find(({ iso }) => iso === 'fr'), { name: 'French' })
  t.false(rows.some(({ iso }) => iso === 'jw'))
})

test('a folder with the API name or the repository name of a model activates the model', async (t) => {
  const modelsDir = await install(t, { 'whisper-large-v3': TINY, medium: TINY, 'whisper-base': TINY, 'my-own': TINY })
  const { catalogue, names } = await openWith(modelsDir)
  t.deepEqual(names, [...FIVE, 'demo-en', 'my-own', 'base'])
  const active = catalogue.models().filter((model) => model.active)
  t.deepEqual(active.map(({ name }) => name), ['medium', 'large-v3', 'demo-en', 'my-own', 'base'])
  t.is(catalogue.speech.models.get('large-v3'), join(modelsDir, 'whisper-large-v3'))
  t.deepEqual(active.find(({ name }) => name === 'large-v3')?.languages, ['en'])
})

test('measured memory is used while the weights are unchanged since the measurement', async (t) => {
  const modelsDir = await install(t, { measured: TINY, changed: TINY, plain: TINY, '.pulling': TINY })
  const estimate = 1
  const weights = await findWeights(join(TINY, 'onnx'))
  const bytes = E.isRight(weights) ? weights.right.bytes : 0
  await writeManifest(join(modelsDir, 'measured'), { files: [], vram: { megabytes: 77, weights: bytes } })
  await writeManifest(join(modelsDir, 'changed'), { files: [], vram: { megabytes: 77, weights: bytes + 1 } })
  const { catalogue, names } = await openWith(modelsDir)
  const vramOf = (name: string) => catalogue.models().find((model) => model.name === name)?.vram
  t.deepEqual(['measured', 'changed', 'plain'].map(vramOf), [77, estimate, estimate])
  t.false(names.includes('.pulling'), 'an unfinished download is no model')
})

test('a model whose manifest cannot be read is not listed', async (t) => {
  const modelsDir = await install(t, { readable: TINY, unreadable: TINY })
  const manifest = join(modelsDir, 'unreadable', MANIFEST_FILE)
  await symlink(manifest, manifest)
  const { names } = await openWith(modelsDir)
  t.true(names.includes('readable'))
  t.false(names.includes('unreadable'))
})

test('a rescan changes rows and folders and keeps ids', async (t) => {
  const modelsDir = await install(t, { first: TINY })
  const { catalogue, store } = await openWith(modelsDir)
  const { speech: { models: folders } } = catalogue
  await cp(TINY, join(modelsDir, 'second'), { recursive: true })
  await Promise.all([catalogue.rescan(), catalogue.rescan()])
  t.deepEqual(catalogue.models().slice(6).map(({ id, name }) => [id, name]), [[7, 'first'], [8, 'second']])
  t.is(folders.get('second'), join(modelsDir, 'second'))
  await rm(join(modelsDir, 'first'), { recursive: true })
  await catalogue.rescan()
  t.deepEqual(catalogue.models().slice(6).map(({ name }) => name), ['second'])
  t.deepEqual([...folders.keys()], ['demo-en', 'second'])
  t.is(store.allEvents().filter(({ type }) => type === 'ModelListed').length, 8)
})

test('ids and dates stay when folders disappear and return', async (t) => {
  const modelsDir = await install(t, { first: TINY, second: TINY })
  const { store, catalogue } = await openWith(modelsDir)
  const before = catalogue.models()
  await rm(join(modelsDir, 'first'), { recursive: true })
  await cp(TINY, join(modelsDir, 'a-new-one'), { recursive: true })
  const without = (await openWith(modelsDir, store)).catalogue.models()
  t.deepEqual(without.map(({ id, name }) => [id, name]).slice(5), [[6, 'demo-en'], [8, 'second'], [9, 'a-new-one']])
  await cp(TINY, join(modelsDir, 'first'), { recursive: true })
  const returned = (await openWith(modelsDir, store)).catalogue.models()
  t.deepEqual(returned.filter(({ name }) => name !== 'a-new-one'), before)
  t.is(store.allEvents().filter(({ type }) => type === 'ModelListed').length, 9)
})

test('when two services list models at once, the second continues after the ids of the first', async (t) => {
  const store = createMemoryEventStore()
  const modelsDir = await install(t, { first: TINY, second: TINY })
  const otherModelsDir = await install(t, { third: TINY })
  let isOvertaken = false
  const slow: typeof store = {
    ...store,
    append: async (stream, expected, events) => {
      if (!isOvertaken) await openWith(otherModelsDir, store)
      isOvertaken = true
      return store.append(stream, expected, events)
    },
  }
  const { catalogue } = await openWith(modelsDir, slow)
  t.deepEqual(
    catalogue
      .models()
      .map(({ id, name }) => [id, name])
      .slice(5),
    [
      [6, 'demo-en'],
      [8, 'first'],
      [9, 'second'],
    ],
  )
  t.is(store.allEvents().filter(({ type }) => type === 'ModelListed').length, 9)
})

test('an unsuitable folder is reported and not listed; of two equal names only one is listed', async (t) => {
  const modelsDir = await install(t, { broken: TINY, tiny: TINY, 'whisper-tiny': TINY, 'demo-en': TINY })
  await rm(join(modelsDir, 'broken', 'tokenizer.json'))
  await writeFile(join(modelsDir, 'README.md'), 'not a model')
  const { names, logger, catalogue } = await openWith(modelsDir)
  t.deepEqual(names, [...FIVE, 'demo-en'])
  t.is(catalogue.speech.models.get('tiny'), join(modelsDir, 'tiny'))
  t.is(resolve(catalogue.speech.models.get('demo-en') ?? ''), resolve('models/demo-en'))
  const reported = logger.lines.map(({ level, fields }) => [
    level,
    String(fields['folder']).slice(modelsDir.length + 1),
  ])
  t.deepEqual(
    reported.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    [
      ['warn', 'broken'],
      ['warn', 'demo-en'],
      ['warn', 'whisper-tiny'],
    ],
  )
  t.is(
    logger.lines.find(({ fields }) => String(fields['folder']).endsWith('broken'))?.fields['reason'],
    'tokenizer.json is missing',
  )
})

test('a missing models directory is logged as an error, and shipped models stay listed', async (t) => {
  const { names, logger } = await openWith(join('models', 'nowhere'))
  t.deepEqual(names, [...FIVE, 'demo-en'])
  t.deepEqual(logger.lines.map(({ level }) => level), ['error'])
})
