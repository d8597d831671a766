import { existsSync, readFileSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { readMarianDirectory, type MarianModel } from '../../../infrastructure/onnx/marian-model.ts'
import { loadMarian, type MarianRunner } from '../../../infrastructure/onnx/marian-runner.ts'
import { sharedModel, testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { changeJson, TINY_MARIAN } from '../../support/models/translators.ts'

const SHIPPED = 'models/translate-en-es'
/** A trained translator: the shipped model, or a prototype in the shared folder if no model is shipped. */
const TRAINED = existsSync(`${SHIPPED}/onnx`) ? SHIPPED : sharedModel('mt-en-es-prototype')

interface Expected {
  readonly text: string
  readonly to: string
  readonly tokens: ReadonlyArray<number>
  readonly translation: string
}
const expected = JSON.parse(readFileSync(`${TINY_MARIAN}/expected.json`, 'utf8')) as ReadonlyArray<Expected>

const unchanged = (model: MarianModel): MarianModel => model

const runner = async (folder: string, change = unchanged): Promise<MarianRunner> => {
  const model = await readMarianDirectory(folder)
  if (E.isLeft(model)) throw new Error(model.left)
  return loadMarian(change(model.right))
}

/** Changes a copy of tiny-marian, uses it, and deletes it. */
const withCopy = async <A>(
  change: (folder: string) => Promise<void>,
  use: (folder: string) => Promise<A>,
): Promise<A> => {
  const directory = await temporaryDirectory()
  try {
    await cp(TINY_MARIAN, directory.path, { recursive: true })
    await change(directory.path)
    return await use(directory.path)
  } finally {
    await directory.remove()
  }
}

const changed =
  (file: string, members: Readonly<Record<string, unknown>>) =>
  (folder: string): Promise<void> =>
    changeJson(folder, file, members)

const reasonAfter = (change: (folder: string) => Promise<void>): Promise<string> =>
  withCopy(change, async (folder) => {
    const model = await readMarianDirectory(folder)
    return E.isLeft(model) ? model.left : 'fits'
  })

const merged = (model: MarianModel): MarianModel => ({
  ...model,
  weights: { ...model.weights, decoder: { kind: 'merged', file: `${TINY_MARIAN}/onnx/decoder_model_merged.onnx` } },
})

for (const [decoders, change] of [['two decoder files', unchanged], ['a merged decoder', merged]] as const) {
  test(`with ${decoders} the tokens equal the greedy search of the reference`, async (t) => {
    const { translate } = await runner(TINY_MARIAN, change)
    t.true(expected.length > 30)
    t.true(expected.some(({ tokens }) => tokens.length < 10), 'some translations end on their own')
    t.true(expected.some(({ tokens }) => tokens.length === 22), 'some translations reach the limit')
    for (const { text, to, tokens, translation } of expected) {
      const { pieces, text: translated } = await translate(text, 'en', to)
      // Each text is a single sentence, so it has a single piece.
      t.deepEqual(
        pieces.map((piece) => piece.tokens),
        [tokens],
        `${text} -> ${to}`,
      )
      t.is(translated, translation)
    }
  })
}

test('the first token selects the target language by any spelling of its code', async (t) => {
  const { translate } = await runner(TINY_MARIAN)
  const tokens = async (to: string): Promise<unknown> =>
    (await translate('the test', 'en', to)).pieces.map((piece) => piece.tokens)
  const [french, spanish, unknown] = [await tokens('fr'), await tokens('es'), await tokens('de')]
  t.notDeepEqual(french, spanish)
  t.notDeepEqual(french, unknown)
  t.deepEqual(await tokens('it'), unknown)
})

test('a text is translated sentence by sentence, and text without letters and digits stays unchanged', async (t) => {
  const { translate } = await runner(TINY_MARIAN)
  const translated = async (text: string) => (await translate(text, 'en', 'fr')).text
  const [first, second] = [await translated('the test.'), await translated('A winter song.')]
  const both = await translate('  the test.\n A winter song.  ', 'en', 'fr')
  t.deepEqual(both.pieces.map(({ source }) => source), ['the test.', 'A winter song.'])
  t.is(both.text, `${first} ${second}`)
  t.deepEqual(await translate('', 'en', 'fr'), { text: '', pieces: [] })
  t.deepEqual(await translate(' \n', 'en', 'fr'), { text: '', pieces: [] })
  t.is(await translated('…'), '…')
})

test('a sentence that is too long is split, if possible at spaces, and translated completely', async (t) => {
  const { translate } = await runner(TINY_MARIAN)
  const spoken = Array.from({ length: 400 }, (_, index) => ['why', 'the', 'winter', 'x', 'stones'][index % 5]).join(' ')
  t.true(spoken.length > 1600)
  const { pieces, text } = await translate(spoken, 'en', 'fr')
  t.is(pieces.map(({ source }) => source).join(' '), spoken)
  t.true(pieces.length > 20)
  t.is(
    text,
    pieces
      .map((piece) => piece.text)
      .filter((part) => part !== '')
      .join(' '),
  )
  const unbroken = 'abcdefghij'.repeat(200)
  t.is((await translate(unbroken, 'en', 'fr')).pieces.map(({ source }) => source).join(''), unbroken)
  const monster = `e${'\u0301\u0316'.repeat(200)}`
  t.is((await translate(monster, 'en', 'fr')).pieces.length, 1, 'one grapheme cannot be cut')
  t.truthy(await translate('日本語 ☃ \u{1F600} \u0000 \uD800', 'ja', 'fr'))
})

test('ids, bans and lengths come from generation_config.json, else from config.json', async (t) => {
  const model = await readMarianDirectory(TINY_MARIAN)
  t.like(E.isRight(model) ? model.right : null, {
    startToken: 43,
    endTokens: [0],
    maxTokens: 22,
    maxSource: 32,
    decoderLayers: 1,
    decoderHeads: 2,
    headSize: 8,
    source: 'eng',
    target: 'ROMANCE',
  })
  t.deepEqual(E.isRight(model) ? model.right.banned.slice(0, 4) : null, [[43], [43], [2, 2], [3, 3]])
  const members = { decoder_start_token_id: 7, eos_token_id: [0, 3], pad_token_id: 7, max_length: 500 }
  const old = async (folder: string): Promise<void> => {
    await rm(join(folder, 'generation_config.json'))
    await changed('config.json', members)(folder)
  }
  t.like(await withCopy(old, readMarianDirectory), {
    right: { startToken: 7, endTokens: [0, 3], banned: [[7]], maxTokens: 31 },
  })
  t.like(await withCopy(changed('generation_config.json', { max_new_tokens: 5 }), readMarianDirectory), {
    right: { maxTokens: 4 },
  })
})

test('errors name missing and wrong members', async (t) => {
  t.regex(await reasonAfter(changed('config.json', { model_type: 'bart' })), /^config\.json: model_type /)
  t.regex(await reasonAfter(changed('config.json', { d_model: 15 })), /does not divide/)
  t.regex(
    await reasonAfter(changed('generation_config.json', { eos_token_id: 'end' })),
    /^generation_config\.json: eos_token_id /,
  )
  t.is(
    await reasonAfter(async (folder) => writeFile(join(folder, 'generation_config.json'), '{')),
    'generation_config.json is not JSON',
  )
  t.regex(await reasonAfter(changed('generation_config.json', { eos_token_id: null })), /eos_token_id is missing/)
  t.regex(
    await reasonAfter(changed('generation_config.json', { decoder_start_token_id: null, pad_token_id: null })),
    /decoder_start_token_id is missing/,
  )
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'config.json']) {
    t.is(await reasonAfter(async (folder) => rm(join(folder, file))), `${file} is missing`)
  }
  t.regex(
    await reasonAfter(async (folder) => rm(join(folder, 'onnx/encoder_model.onnx'))),
    /encoder_model.* is missing/,
  )
  t.is(
    await reasonAfter(async (folder) => rm(join(folder, 'onnx/decoder_with_past_model.onnx'))),
    'fits',
    'the merged decoder is enough',
  )
})

testWith(TRAINED)(
  'a trained translator translates two sentences, 2,000 characters without punctuation, and unknown characters',
  async (t) => {
    const { translate } = await runner(TRAINED)
    const { text, pieces } = await translate('The girl sees the white dog. The man buys a red car.', 'en', 'es')
    t.is(pieces.length, 2)
    t.regex(text, /^La .*perro blanco\. El hombre .*coche rojo\.$/)
    const long = 'The girl sees the white dog '.repeat(72)
    const whole = await translate(long, 'en', 'es')
    t.is(whole.pieces.map(({ source }) => source).join(' '), long.trim())
    t.true(whole.pieces.length > 1 && whole.pieces.every((piece) => piece.text !== ''))
    t.notRegex((await translate('Zürich 東京 ☃ \u{1F600}.', 'en', 'es')).text, /<unk>|<pad>|<\/s>/)
  },
)
