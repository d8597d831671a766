import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import {
  switchLanguage,
  switchModel,
  switchTranslation,
} from '../../../../application/catalogue/commands/switch-reference.ts'
import { openSwitchedCatalogue } from '../../../../application/catalogue/switched-catalogue.ts'
import type { Caller } from '../../../../application/caller.ts'
import { NO_ABILITIES, type Catalogue, type TranslationPair } from '../../../../application/ports/catalogue.ts'
import { after } from '../../../support/events/sample-events.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'

const admin: Caller = { userId: 1, permissions: ['admin'], maxSessions: 10, maxTranslations: 5, credential: 'jwt' }
const dates = { createdAt: after(0), updatedAt: null }
const model = (id: number, name: string, active: boolean) => ({ id, name, active, vram: 10, ...NO_ABILITIES, ...dates })
const pair = (id: number, to: string, active: boolean): TranslationPair => ({
  id,
  model: `mt-${id}`,
  active,
  vram: 5,
  from: 'en',
  to,
  ...dates,
})
const installed: Catalogue = {
  models: () => [model(1, 'tiny', false), model(6, 'demo-en', true)],
  furtherLanguages: () => [],
  languages: () => [{ id: 1, iso: 'en', name: 'English', active: true, ...dates }],
  translations: () => [pair(1, 'es', false), pair(2, 'es', true), pair(3, 'es', false), pair(4, 'fr', true)],
}

const open = async (t: ExecutionContext, store = createMemoryEventStore()) => {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers }
  const following = { ...write, logger: silentLogger, signal: stop.signal }
  const switched = right(await openSwitchedCatalogue(following, installed))
  const deps = { ...write, switched }
  return {
    store,
    catalogue: switched.catalogue,
    switchModel: switchModel(deps),
    switchLanguage: switchLanguage(deps),
    switchTranslation: switchTranslation(deps),
  }
}

const active = (rows: ReadonlyArray<{ readonly id: number; readonly active: boolean }>): ReadonlyArray<number> =>
  rows.filter((row) => row.active).map(({ id }) => id)

test('a switched-off model is listed as inactive with the time of the change, also after a restart', async (t) => {
  const { store, catalogue, switchModel, switchLanguage } = await open(t)
  const off = right(await switchModel(admin, 6, false))
  t.false(off.active)
  t.true((off.updatedAt ?? '') > off.createdAt)
  right(await switchLanguage(admin, 1, false))
  t.deepEqual([active(catalogue.models()), active(catalogue.languages())], [[], []])
  const restarted = await open(t, store)
  t.deepEqual(restarted.catalogue.models(), catalogue.models())
  t.deepEqual(restarted.catalogue.languages(), catalogue.languages())
  t.true(right(await restarted.switchModel(admin, 6, true)).active)
  t.deepEqual(store.allEvents().map(({ type, metadata }) => [type, metadata.actor]), [
    ['ModelSwitched', 'user:1'], ['LanguageSwitched', 'user:1'], ['ModelSwitched', 'user:1'],
  ])
})

test('switching on a model that is not installed activates nothing', async (t) => {
  const { catalogue, switchModel, store } = await open(t)
  t.false(right(await switchModel(admin, 1, true)).active)
  t.deepEqual(active(catalogue.models()), [6])
  t.deepEqual(store.allEvents(), [])
})

test('an unlisted id cannot be switched', async (t) => {
  const { store, switchModel, switchLanguage, switchTranslation } = await open(t)
  t.deepEqual(await switchModel(admin, 99, false), E.left({ _tag: 'ModelNotFound' }))
  t.deepEqual(await switchLanguage(admin, 99, false), E.left({ _tag: 'LanguageNotFound' }))
  t.deepEqual(await switchTranslation(admin, 99, false), E.left({ _tag: 'PairNotFound' }))
  t.deepEqual(store.allEvents(), [])
})

test('when the active translator of a pair is switched off, the next one becomes active', async (t) => {
  const { catalogue, switchTranslation } = await open(t)
  t.deepEqual(active(catalogue.translations()), [2, 4])
  t.false(right(await switchTranslation(admin, 2, false)).active)
  t.deepEqual(active(catalogue.translations()), [1, 4])
  right(await switchTranslation(admin, 1, false))
  t.deepEqual(active(catalogue.translations()), [3, 4])
  right(await switchTranslation(admin, 3, false))
  t.deepEqual(active(catalogue.translations()), [4], 'no other pair is touched')
  t.true(right(await switchTranslation(admin, 2, true)).active)
  t.deepEqual(active(catalogue.translations()), [2, 4])
})

test('translators that are switched off simultaneously all stay off', async (t) => {
  const { catalogue, store, switchTranslation } = await open(t)
  await Promise.all([1, 2, 3, 4].map((id) => switchTranslation(admin, id, false)))
  t.deepEqual(active(catalogue.translations()), [])
  t.deepEqual((await open(t, store)).catalogue.translations(), catalogue.translations())
})

test('a model that another process switches off becomes inactive in this process too', async (t) => {
  const { store, catalogue } = await open(t)
  const secondProcess = await open(t, store)
  right(await secondProcess.switchModel(admin, 6, false))
  await eventually(() => { assert.deepEqual(active(catalogue.models()), []) })
  t.deepEqual(catalogue.models(), secondProcess.catalogue.models())
})
