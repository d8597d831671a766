import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { listInstalled } from '../../../../application/catalogue/commands/list-installed.ts'
import { openCatalogue } from '../../../../infrastructure/catalogue/catalogue.ts'
import { languagesOfTranslator } from '../../../../infrastructure/catalogue/languages.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { changeJson, installTranslators, TINY_MARIAN } from '../../../support/models/translators.ts'

const openWith = async (modelsDir: string | null, bundledDir: string, store = createMemoryEventStore()) => {
  const logger = createRecordingLogger()
  const catalogue = await openCatalogue({
    listInstalled: listInstalled({ store, environment: createTestEnvironment(), logger }),
    logger,
    modelsDir,
    bundledDir,
  })
  const pairs = catalogue.translations().map(({ id, model, from, to, active }) => [id, model, from, to, active])
  return { catalogue, logger, store, pairs }
}

test('installed translators are listed with id, model, languages, memory and dates', async (t) => {
  const modelsDir = await installTranslators(t, 'opus-mt-en-es', 'translate-en-fr')
  const { catalogue, pairs, logger } = await openWith(modelsDir, join(modelsDir, 'opus-mt-en-es'))
  t.deepEqual(pairs, [[1, 'opus-mt-en-es', 'en', 'es', true], [2, 'translate-en-fr', 'en', 'fr', true]])
  for (const { vram, createdAt, updatedAt } of catalogue.translations()) {
    t.true(Number.isInteger(vram) && vram >= 1)
    t.regex(createdAt, /^2026-11-21T/)
    t.is(updatedAt, null)
  }
  t.deepEqual(
    [...catalogue.translation.models],
    ['opus-mt-en-es', 'translate-en-fr'].map((name) => [name, join(modelsDir, name)]),
  )
  t.false(catalogue.models().some(({ name }) => name.includes('-en-')), 'a translator is no speech model')
  t.false([...catalogue.speech.models.keys()].some((name) => name.includes('-en-')))
  t.false(logger.lines.some(({ fields }) => String(fields['folder']).includes('en-fr')))
})

test('of several translators for one pair, the first in the models directory is active', async (t) => {
  const bundledDir = await installTranslators(t, 'translate-en-es', 'translate-en-fr')
  const modelsDir = await installTranslators(t, 'opus-mt-en-es', 'opus-mt-tc-big-en-es')
  t.deepEqual((await openWith(null, bundledDir)).pairs, [
    [1, 'translate-en-es', 'en', 'es', true],
    [2, 'translate-en-fr', 'en', 'fr', true],
  ])
  t.deepEqual((await openWith(modelsDir, bundledDir)).pairs, [
    [1, 'opus-mt-en-es', 'en', 'es', true],
    [2, 'opus-mt-tc-big-en-es', 'en', 'es', false],
    [3, 'translate-en-es', 'en', 'es', false],
    [4, 'translate-en-fr', 'en', 'fr', true],
  ])
})

test('ids and dates stay when folders disappear and return, and ids are never reused', async (t) => {
  const modelsDir = await installTranslators(t, 'opus-mt-en-es', 'opus-mt-en-fr')
  const bundledDir = await installTranslators(t)
  const { store, catalogue } = await openWith(modelsDir, bundledDir)
  const before = catalogue.translations()
  await rm(join(modelsDir, 'opus-mt-en-es'), { recursive: true })
  await cp(TINY_MARIAN, join(modelsDir, 'opus-mt-en-de'), { recursive: true })
  t.deepEqual((await openWith(modelsDir, bundledDir, store)).pairs, [
    [2, 'opus-mt-en-fr', 'en', 'fr', true],
    [3, 'opus-mt-en-de', 'en', 'de', true],
  ])
  await cp(TINY_MARIAN, join(modelsDir, 'opus-mt-en-es'), { recursive: true })
  const returned = (await openWith(modelsDir, bundledDir, store)).catalogue.translations()
  t.deepEqual(returned.slice(0, 2), before)
})

test('a folder without known languages or with a missing file is reported and not listed', async (t) => {
  const modelsDir = await installTranslators(t, 'opus-mt-en-ROMANCE', 'translator', 'opus-mt-en-fr')
  await rm(join(modelsDir, 'opus-mt-en-fr', 'tokenizer.json'))
  await mkdir(join(modelsDir, 'opus-mt-en-es'))
  await writeFile(join(modelsDir, 'opus-mt-en-es', 'config.json'), '{"model_type": "marian"}')
  const bundled = await temporaryDirectory()
  t.teardown(bundled.remove)
  const { pairs, logger } = await openWith(modelsDir, bundled.path)
  t.deepEqual(pairs, [])
  const reasons = new Map(
    logger.lines.map(({ fields }) => [String(fields['folder']).slice(modelsDir.length + 1), String(fields['reason'])]),
  )
  t.is(reasons.get('opus-mt-en-fr'), 'tokenizer.json is missing')
  t.regex(reasons.get('opus-mt-en-es') ?? '', /^config\.json: /)
  for (const name of ['opus-mt-en-ROMANCE', 'translator']) t.regex(reasons.get(name) ?? '', /contains its languages/)
})

test('the languages in the tokenizer configuration take precedence over the folder name', async (t) => {
  const modelsDir = await installTranslators(t, 'opus-mt-en-es', 'mt-prototype')
  for (const name of ['opus-mt-en-es', 'mt-prototype'])
    await changeJson(join(modelsDir, name), 'tokenizer_config.json', {
      source_lang: 'eng',
      target_lang: name === 'mt-prototype' ? 'fr' : 'pt_br',
    })
  const bundled = await temporaryDirectory()
  t.teardown(bundled.remove)
  t.deepEqual((await openWith(modelsDir, bundled.path)).pairs.map(([, model, from, to]) => [model, from, to]), [
    ['mt-prototype', 'en', 'fr'], ['opus-mt-en-es', 'en', 'pt'],
  ])
})

for (const [folder, source, target, expected] of [
  ['opus-mt-en-es', null, null, 'en-es'],
  ['Helsinki-NLP_opus-mt_tiny_eng-fra', null, null, 'en-fr'],
  ['opus-mt-tc-big-en-tl', null, null, 'en-tl'],
  ['opus-mt-zh-en', 'zho', 'eng', 'zh-en'],
  ['opus-mt-en-jv', 'en', 'jw', 'en-jv'],
  ['anything', 'spa', 'cmn_Hans', 'es-zh'],
  ['opus-mt-en-fr', 'en', 'ROMANCE', 'en-fr'],
  ['opus-mt-en-ROMANCE', 'en', 'ROMANCE', null],
  ['opus-mt-en', null, null, null],
  ['opus-mt-en-en', null, null, null],
  ['opus-mt-en-haw', null, null, null],
  ['translator', null, '', null],
] as const) {
  const pair = expected ?? 'no known pair'
  test(`the translator ${folder} with the tokenizer languages ${source} and ${target} translates ${pair}`, (t) => {
    const languages = languagesOfTranslator(folder, source, target)
    t.is(languages === null ? null : `${languages.from}-${languages.to}`, expected)
  })
}

test('when the list cannot be read completely, nothing new is listed and known models stay', async (t) => {
  const modelsDir = await installTranslators(t, 'opus-mt-en-es')
  const bundledDir = await installTranslators(t)
  const { store, pairs } = await openWith(modelsDir, bundledDir)
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: createTestEnvironment().now() }
  await store.append('catalogue', 'any', [
    { id: createTestEnvironment().newId(), type: 'InventedLater', data: {}, metadata },
  ])
  const before = store.allEvents().length
  await cp(TINY_MARIAN, join(modelsDir, 'opus-mt-en-de'), { recursive: true })
  const unknown = await openWith(modelsDir, bundledDir, store)
  t.deepEqual(unknown.pairs, pairs)
  t.is(store.allEvents().length, before)
  t.true(
    unknown.logger.lines.some(
      ({ level, fields }) => level === 'error' && String(fields['unlisted']).includes('opus-mt-en-de'),
    ),
  )

  // A corrupted row is skipped, and the other rows are read.
  const damaged = {
    ...store,
    read: async (stream: string, options: Parameters<typeof store.read>[1] = {}) => {
      const { from = 0, limit } = options
      if (limit === 1 && from !== 0) return await store.read(stream, options)
      return E.left({ _tag: 'LogCorrupted', reason: 'a flipped bit' } as const)
    },
  }
  const withCorruptedRow = await openWith(modelsDir, bundledDir, damaged)
  t.deepEqual(withCorruptedRow.pairs, pairs)
  t.is(store.allEvents().length, before)
})
