import { Tokenizer } from '@huggingface/tokenizers'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { chooseToken } from '../../../../../infrastructure/onnx/logits.ts'
import { readWhisperDirectory } from '../../../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { createHotwords } from '../../../../../infrastructure/onnx/words/hotwords.ts'
import { createVocabularies } from '../../../../../infrastructure/onnx/words/vocabulary.ts'

const END = 20
/**
 * One hotword of three tokens that can begin anywhere, and one hotword of two tokens that can begin only after the end
 * of a word. Only token 9 ends a word.
 */
const hotwords = createHotwords(
  [{ tokens: [1, 2, 3], isFree: true }, { tokens: [5, 6], isFree: false }],
  END,
  (token) => token === 9,
)

/** Returns the token that is chosen after `text` when the tokens have these logits. All other tokens are unlikely. */
const chosenAfter = (logits: Readonly<Record<number, number>>, text: ReadonlyArray<number>) => {
  const all = Float32Array.from({ length: END + 1 }, (_, token) => logits[token] ?? -30)
  return hotwords.prefer(chooseToken(all), all, text)
}

test('a hotword begins only where it is almost as likely as the likeliest token', (t) => {
  t.is(chosenAfter({ 8: 0, 1: -2.5 }, [7]).token, 1)
  t.is(chosenAfter({ 8: 0, 1: -3.5 }, [7]).token, 8)
  t.is(chosenAfter({ 8: 0, 2: -1 }, [7]).token, 8, 'a hotword does not begin with its second token')
})

test('a hotword continues token by token, also when the known text ends within the hotword', (t) => {
  t.is(chosenAfter({ 8: 0, 2: -4.5 }, [7, 1]).token, 2)
  t.is(chosenAfter({ 8: 0, 3: -4.5 }, [1, 2]).token, 3)
  t.is(chosenAfter({ 8: 0, 3: -4.5 }, [1, 7]).token, 8)
  t.is(chosenAfter({ 8: 0, 2: -4.5 }, [1, 2, 3]).token, 8, 'the hotword is complete')
})

test('a spelling without a space begins only after the end of a word', (t) => {
  t.is(chosenAfter({ 8: 0, 5: -1 }, []).token, 5)
  t.is(chosenAfter({ 8: 0, 5: -1 }, [9]).token, 5)
  t.is(chosenAfter({ 8: 0, 5: -1 }, [7]).token, 8)
  t.is(chosenAfter({ 8: 0, 6: -4.5 }, [9, 5]).token, 6)
  t.is(chosenAfter({ 8: 0, 6: -4.5 }, [7, 5]).token, 8)
})

test('no hotword replaces the end of the text', (t) => {
  t.is(chosenAfter({ [END]: 0, 1: -0.1, 2: -0.1 }, [7, 1]).token, END)
})

test('a chosen hotword has a bonus on its probability, and the value without the bonus is kept', (t) => {
  const { token, logprob, withoutBonus = 0 } = chosenAfter({ 8: 0, 1: -1 }, [])
  const odds = (log: number): number => log - Math.log(1 - Math.exp(log))
  t.is(token, 1)
  t.true(Math.abs(odds(withoutBonus) - -1) < 1e-6, String(withoutBonus))
  t.true(Math.abs(odds(logprob) - odds(withoutBonus) - 3) < 1e-6, String(logprob))
  const withoutHotword = chosenAfter({ 8: 0, 1: -4 }, [])
  t.is(withoutHotword.logprob, withoutHotword.withoutBonus ?? 0, 'any other token gets no bonus')
})

const vocabularies = async () => {
  const model = await readWhisperDirectory('test/support/fixtures/engine/exact-whisper')
  if (E.isLeft(model)) throw new Error(model.left)
  const tokenizer = new Tokenizer(model.right.tokenizer.json, model.right.tokenizer.config)
  const decode = (tokens: ReadonlyArray<number>): string =>
    tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false })
  const encode = (text: string): ReadonlyArray<number> => tokenizer.encode(text, { add_special_tokens: false }).ids
  const vocabularyOf = createVocabularies(tokenizer, decode, model.right.endOfText)
  return { vocabularyOf, encode, decode, vocabulary: model.right }
}

test('a prompt is cut to its limit, and special tokens in it do not count', async (t) => {
  const { vocabularyOf, decode, vocabulary } = await vocabularies()
  t.is(decode(vocabularyOf({ prompt: 'the red car', hotwords: [] }).prompt), ' the red car')
  t.deepEqual(vocabularyOf({ prompt: '  ', hotwords: [' '] }), { prompt: [] })
  const long = vocabularyOf({ prompt: 'the red car '.repeat(2000), hotwords: [] }).prompt
  t.is(long.length, 112)
  t.true(decode(long).endsWith('red car'), 'the end of the prompt is kept')
  t.true(
    vocabularyOf({ prompt: 'so <|endoftext|> and <|translate|>', hotwords: [] }).prompt.every(
      (token) => token < vocabulary.endOfText,
    ),
  )
})

test('a hotword has spellings with and without a capital and a space', async (t) => {
  const { vocabularyOf, encode, vocabulary } = await vocabularies()
  const { hotwords } = vocabularyOf({ prompt: '', hotwords: ['  red   car '] })
  for (const text of [' red car', ' Red car', 'red car', 'Red car']) {
    const tokens = encode(text)
    for (const [i, token] of tokens.entries()) {
      const logits = new Float32Array(vocabulary.endOfText + 1).fill(-30)
      const likeliest = token === 0 ? 1 : 0
      logits[likeliest] = 0
      logits[token] = -1
      t.is(hotwords?.prefer(chooseToken(logits), logits, tokens.slice(0, i)).token, token, `${text}, token ${i}`)
    }
  }
})

test('a vocabulary is encoded only once', async (t) => {
  const { vocabularyOf } = await vocabularies()
  t.is(vocabularyOf({ prompt: 'a', hotwords: ['b'] }), vocabularyOf({ prompt: 'a', hotwords: ['b'] }))
  t.not(vocabularyOf({ prompt: 'a', hotwords: ['b'] }), vocabularyOf({ prompt: 'a', hotwords: ['c'] }))
})
