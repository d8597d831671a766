import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { chooseModels } from '../../../../application/lives/choose-models.ts'
import type { Catalogue, TranslationPair } from '../../../../application/ports/catalogue.ts'
import { right } from '../../../support/tools/right.ts'
import { catalogue as plain } from '../../../support/worlds/write-side.ts'

const [samplePair] = plain.translations()
if (samplePair === undefined) throw new Error('no pair')
const pair = (id: number, from: string, to: string, active = true): TranslationPair => ({
  ...samplePair,
  id,
  model: `${from}-${to}`,
  from,
  to,
  active,
})
/** Model m1 recognises en and fr, model m2 only en. */
const catalogue: Catalogue = {
  ...plain,
  translations: () => [
    pair(1, 'en', 'es'),
    pair(2, 'fr', 'es'),
    pair(3, 'de', 'es', false),
    pair(4, 'fr', 'en'),
    pair(5, 'en', 'fr'),
    pair(6, 'pt', 'es'),
  ],
}

const chosen = (
  language: string,
  translations: ReadonlyArray<string>,
  task?: 'transcribe' | 'translate',
  model = 'm1',
) => chooseModels(catalogue, { model, language, translations, config: task === undefined ? {} : { task } })
const pairsOf = (...args: Parameters<typeof chosen>) => right(chosen(...args)).pairs.map(({ model }) => model)

test('auto uses every active pair from a recognised language to a target and reserves memory for each', (t) => {
  t.deepEqual(pairsOf('auto', ['es']), ['en-es', 'fr-es'])
  t.deepEqual(pairsOf('auto', ['es', 'en']), ['en-es', 'fr-es', 'fr-en'])
  t.is(right(chosen('auto', ['es'])).vram, 3)
  t.deepEqual(chosen('auto', ['pt']), E.left({ _tag: 'TranslationNotFound', from: 'auto', to: 'pt' }))
  t.deepEqual(pairsOf('en', ['es']), ['en-es'], 'a given language uses one pair for each target')
})

test('auto needs a model that detects languages; a three-letter code needs a model that lists it', (t) => {
  t.deepEqual(
    chosen('auto', [], undefined, 'm2'),
    E.left({ _tag: 'LanguageNotSupported', model: 'm2', language: 'auto' }),
  )
  t.deepEqual(chosen('yue', []), E.left({ _tag: 'LanguageNotSupported', model: 'm1', language: 'yue' }))
  t.deepEqual(chosen('haw', []), E.left({ _tag: 'LanguageNotFound' }))
  const models = () => plain.models().map((model) => ({ ...model, findsLanguage: false, translates: false }))
  const refused = (language: string, task: 'transcribe' | 'translate') =>
    chooseModels({ ...catalogue, models }, { model: 'm1', language, translations: [], config: { task } })
  const cannotDetect = { _tag: 'LanguageNotSupported', model: 'm1', language: 'auto' } as const
  t.deepEqual(refused('auto', 'transcribe'), E.left(cannotDetect), 'a model with several languages that detects none')
  t.deepEqual(refused('fr', 'translate'), E.left({ _tag: 'TaskNotSupported', model: 'm1' }))
  const withCantonese = {
    ...catalogue,
    models: () => plain.models().map((model) => ({ ...model, languages: ['en', 'yue'] })),
  }
  t.true(E.isRight(chooseModels(withCantonese, { model: 'm1', language: 'yue', translations: [], config: {} })))
})

test('the task translate writes English text, so translations start from English', (t) => {
  t.deepEqual(pairsOf('fr', ['es', 'fr'], 'translate'), ['en-es', 'en-fr'])
  t.deepEqual(pairsOf('auto', ['es'], 'translate'), ['en-es'])
  t.deepEqual(chosen('fr', ['en'], 'translate'), E.left({ _tag: 'TranslationNotFound', from: 'en', to: 'en' }))
  t.deepEqual(pairsOf('fr', ['es'], 'transcribe'), ['fr-es'])
  t.deepEqual(chosen('en', [], 'translate', 'm2'), E.left({ _tag: 'TaskNotSupported', model: 'm2' }))
})
