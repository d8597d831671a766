import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { LANGUAGE_ROWS } from '../../../../../infrastructure/catalogue/languages.ts'
import { outputNamesOf } from '../../../../../infrastructure/onnx/graphs/graph-outputs.ts'
import { readGraph } from '../../../../../infrastructure/onnx/graphs/graph-reader.ts'
import { onnxFile } from '../../../../../infrastructure/onnx/graphs/graph-writer.ts'
import { readWhisperDirectory } from '../../../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { abilitiesOf, promptFor, type WhisperModel } from '../../../../../infrastructure/onnx/whisper/whisper-model.ts'
import { sharedModel, testWith } from '../../../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const DEMO = 'models/demo-en'
const RANDOM = sharedModel('whisper-tiny-random')

const open = async (folder: string): Promise<WhisperModel> => {
  const model = await readWhisperDirectory(folder)
  if (E.isLeft(model)) throw new Error(model.left)
  return model.right
}

/** Returns the reason why a copy of demo-en is refused after `damage`. */
const reasonAfter = async (damage: (folder: string) => Promise<void>): Promise<string> => {
  const directory = await temporaryDirectory()
  try {
    await cp(DEMO, directory.path, { recursive: true })
    await damage(directory.path)
    const model = await readWhisperDirectory(directory.path)
    return E.isLeft(model) ? model.left : 'fits'
  } finally {
    await directory.remove()
  }
}

/** Returns the prompt tokens for a language and task, or null when the model does not support them. */
const promptOf = (
  model: WhisperModel,
  language: string,
  task: 'transcribe' | 'translate' = 'transcribe',
): ReadonlyArray<number> | null => E.getOrElseW(() => null)(promptFor(model, { language, task }))

const changed =
  (file: string, change: (json: Record<string, unknown>) => Record<string, unknown>) => async (folder: string) => {
    const path = join(folder, file)
    await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>)))
  }

testWith(RANDOM)(
  'every language of the API has a token in whisper-tiny-random: jv as <|jw|>, haw unchanged',
  async (t) => {
    const model = await open(RANDOM)
    const tokenizer = new Tokenizer(model.tokenizer.json, model.tokenizer.config)
    const { languages } = abilitiesOf(model)
    t.deepEqual([...languages].sort(), [...LANGUAGE_ROWS.map(({ iso }) => iso), 'haw'].sort())
    for (const iso of languages) {
      const prompt = promptOf(model, iso) ?? []
      const names = prompt.map((token) => tokenizer.id_to_token(token))
      t.deepEqual(names, ['<|startoftranscript|>', `<|${iso === 'jv' ? 'jw' : iso}|>`, '<|transcribe|>'])
    }
    t.is(promptOf(model, 'jw'), null)
  },
)

/** The language codes of Whisper's tokens, without those that were added in version 3. */
const WHISPER_CODES = `
  en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy
  sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo
  uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su
`
  .trim()
  .split(/\s+/)

test('every language of the API has a token in a model with the tokens of Whisper', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  await cp(DEMO, directory.path, { recursive: true })
  const tokens = WHISPER_CODES.map((code, n) => ({ id: code === 'en' ? 770 : 900 + n, content: `<|${code}|>` }))
  const listed = Object.fromEntries(tokens.map(({ id, content }) => [content, id]))
  await changed('generation_config.json', (json) => ({ ...json, lang_to_id: listed }))(directory.path)
  const added = tokens.filter(({ id }) => id !== 770)
  await changed('tokenizer.json', (json) => ({
    ...json,
    added_tokens: [...(json['added_tokens'] as ReadonlyArray<object>), ...added],
  }))(directory.path)
  const model = await open(directory.path)
  t.is(tokens.length, 99)
  t.deepEqual([...abilitiesOf(model).languages].sort(), [...LANGUAGE_ROWS.map(({ iso }) => iso), 'haw'].sort())
  for (const iso of abilitiesOf(model).languages) {
    const token = listed[`<|${iso === 'jv' ? 'jw' : iso}|>`] ?? -1
    t.true(promptOf(model, iso)?.includes(token), iso)
  }
  t.is(promptOf(model, 'jw'), null)
})

testWith(RANDOM)('the parameters of another model come from its files', async (t) => {
  const model = await open(RANDOM)
  t.is(model.windowSamples, 480_000)
  t.is(model.timePrecision, 0.02)
  t.is(model.timestampRules.begin, 50_364)
  t.is(model.timestampRules.maxInitialIndex, 50)
  t.is(model.noSpeech, 50_362)
  t.is(model.dynamicWindow, false)
  t.deepEqual(model.suppressedAtBegin, [220, 50_257])
})

test('the model that ships has a dynamic window, steps of 0.04 s and English', async (t) => {
  const model = await open(DEMO)
  t.true(model.dynamicWindow)
  t.is(model.timePrecision, 0.04)
  t.deepEqual(abilitiesOf(model).languages, ['en'])
  t.deepEqual(promptOf(model, 'en'), [769, 770, 772])
  t.is(promptOf(model, 'fr'), null)
  t.deepEqual(promptOf({ ...model, timestamps: false }, 'en'), [769, 770, 772, 776])
})

test('the prompt of an English-only model contains no language and no task', async (t) => {
  const directory = await temporaryDirectory()
  await cp(DEMO, directory.path, { recursive: true })
  const makeEnglish = changed('generation_config.json', ({ lang_to_id: _languages, task_to_id: _tasks, ...rest }) => ({
    ...rest,
    is_multilingual: false,
  }))
  await makeEnglish(directory.path)
  const model = await open(directory.path)
  await directory.remove()
  t.deepEqual(abilitiesOf(model).languages, ['en'])
  t.deepEqual(promptOf(model, 'en'), [769])
  t.is(promptOf(model, 'fr'), null)
})

test('a model supports the languages whose tokens are in its tokenizer', async (t) => {
  const languagesAfter = async (
    ...changes: ReadonlyArray<(folder: string) => Promise<void>>
  ): Promise<ReadonlyArray<string>> => {
    const directory = await temporaryDirectory()
    await cp(DEMO, directory.path, { recursive: true })
    for (const change of changes) await change(directory.path)
    const model = await readWhisperDirectory(directory.path)
    await directory.remove()
    return E.isLeft(model) ? [model.left] : abilitiesOf(model.right).languages
  }
  const generation = (fields: object) => changed('generation_config.json', (json) => ({ ...json, ...fields }))
  const addTokens = (...tokens: ReadonlyArray<object>) =>
    changed('tokenizer.json', (json) => ({
      ...json,
      added_tokens: [...(json['added_tokens'] as ReadonlyArray<object>), ...tokens],
    }))
  const french = { id: 900, content: '<|fr|>' }
  const listed = { '<|en|>': 770, '<|fr|>': 900, '<|de|>': 901, '<|haw|>': 902 }
  t.deepEqual(
    await languagesAfter(generation({ lang_to_id: listed }), addTokens(french)),
    ['en', 'fr'],
    'German is listed but has no token',
  )
  t.deepEqual(
    await languagesAfter(generation({ lang_to_id: listed }), addTokens({ ...french, id: 905 })),
    ['en'],
    'the token has another id than listed',
  )
  t.deepEqual(
    await languagesAfter(generation({ lang_to_id: undefined }), addTokens(french)),
    ['en', 'fr'],
    'an export without a list',
  )
  t.deepEqual(
    await languagesAfter(generation({ lang_to_id: undefined, is_multilingual: undefined }), addTokens(french)),
    ['en'],
    'the vocabulary is small',
  )
  const large = changed('config.json', (json) => ({ ...json, vocab_size: 51_865 }))
  t.deepEqual(
    await languagesAfter(large, generation({ lang_to_id: undefined, is_multilingual: undefined }), addTokens(french)),
    ['en', 'fr'],
  )
  const english = changed('config.json', (json) => ({ ...json, vocab_size: 51_864 }))
  t.deepEqual(
    await languagesAfter(english, generation({ lang_to_id: undefined, is_multilingual: undefined }), addTokens(french)),
    ['en'],
  )
  t.deepEqual(await languagesAfter(generation({ lang_to_id: { '<|de|>': 901 } })), [
    'tokenizer.json: no language token is present',
  ])
})

test('a multilingual model detects languages, and translates if it has the token for translation', async (t) => {
  const model = await open('test/support/fixtures/engine/exact-whisper')
  t.like(abilitiesOf(model), { languages: ['de', 'en'], findsLanguage: true, translates: true })
  const { multilingual } = model
  const untranslated = multilingual === null ? null : { ...multilingual, translate: null }
  t.like(abilitiesOf({ ...model, multilingual: untranslated }), { findsLanguage: true, translates: false })
  t.like(abilitiesOf(await open(DEMO)), { findsLanguage: false, translates: false })
})

test('a model has words if it names its alignment heads and all its decoder graphs return attention', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [withAttention, without, damaged] = ['with', 'without', 'damaged'].map((name) => join(path, name))
  const graph = (...outputs: ReadonlyArray<string>) =>
    onnxFile({ constants: [], nodes: [], inputs: [['ids', [1]]], outputs: outputs.map((name) => [name, [1]]) })
  await writeFile(withAttention ?? '', graph('logits', 'cross_attentions.0'))
  await writeFile(without ?? '', graph('logits', 'present.0.decoder.key'))
  await writeFile(damaged ?? '', graph('logits', 'cross_attentions.0').subarray(0, 30))
  const demo = await open(DEMO)
  t.like(abilitiesOf(demo), { hasWords: false, takesVocabulary: false })
  const hasWords = (prompt = '', next = '', alignmentHeads: WhisperModel['alignmentHeads'] = [[0, 0]]) => {
    const weights = { ...demo.weights, decoder: { kind: 'two' as const, prompt, next } }
    return abilitiesOf({ ...demo, alignmentHeads, weights }).hasWords
  }
  t.true(hasWords(withAttention, withAttention))
  t.false(hasWords(withAttention, withAttention, []))
  for (const [prompt, next] of [[withAttention, without], [without, withAttention], [withAttention, damaged]])
    t.false(hasWords(prompt, next))
  const [file] = demo.weights.graphs
  t.deepEqual(outputNamesOf(file ?? ''), readGraph(await readFile(file ?? ''))?.outputs)
})

test('errors name the missing file or the wrong field', async (t) => {
  t.is(await reasonAfter(async (folder) => rm(join(folder, 'tokenizer.json'))), 'tokenizer.json is missing')
  t.is(await reasonAfter(async (folder) => writeFile(join(folder, 'config.json'), '{')), 'config.json is not JSON')
  t.regex(
    await reasonAfter(changed('config.json', (json) => ({ ...json, num_mel_bins: 'many' }))),
    /^config\.json: num_mel_bins /,
  )
  t.regex(
    await reasonAfter(changed('config.json', (json) => ({ ...json, model_type: 'bart' }))),
    /^config\.json: model_type /,
  )
  const preprocessor = 'preprocessor_config.json'
  t.regex(
    await reasonAfter(changed(preprocessor, ({ hop_length: _hop, ...rest }) => rest)),
    /^preprocessor_config\.json: hop_length /,
  )
  t.regex(
    await reasonAfter(changed(preprocessor, (json) => ({ ...json, hop_length: 160 }))),
    /do not fit max_source_positions/,
  )
  t.regex(await reasonAfter(changed(preprocessor, (json) => ({ ...json, feature_size: 128 }))), /is not num_mel_bins/)
  const without = async (graph: string): Promise<string> =>
    reasonAfter(async (folder) => rm(join(folder, `onnx/${graph}_quantized.onnx`)))
  t.regex(await without('encoder_model'), /encoder_model.* is missing/)
  t.regex(await without('decoder_with_past_model'), /decoder_with_past_model.* is missing/)
})
