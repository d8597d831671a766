import fc from 'fast-check'
import test from 'ava'
import { sentencesOf } from '../../../../domain/transcript/sentences.ts'

const cases: ReadonlyArray<readonly [language: string, text: string, sentences: ReadonlyArray<string>]> = [
  ['en', 'Good morning everyone. How are you? Fine!', ['Good morning everyone.', 'How are you?', 'Fine!']],
  ['en', 'no mark at all', ['no mark at all']],
  [
    'en',
    'It costs 3.5 dollars at example.com today. Buy it.',
    ['It costs 3.5 dollars at example.com today.', 'Buy it.'],
  ],
  ['en', 'Dr. Smith met Mrs. Jones. They talked.', ['Dr. Smith met Mrs. Jones.', 'They talked.']],
  ['en', 'J. R. Smith came. He left.', ['J. R. Smith came.', 'He left.']],
  ['en', 'It ends with Dr.', ['It ends with Dr.']],
  ['en', ' two\nlines. Then   spaces. ', ['two lines.', 'Then spaces.']],
  ['ja', '今日は晴れです。明日は雨です。', ['今日は晴れです。', '明日は雨です。']],
  ['en', '', []],
  ['en', ' \n ', []],
]

for (const [language, text, sentences] of cases) {
  test(`splits ${JSON.stringify(text)} into sentences`, (t) => {
    t.deepEqual(sentencesOf(text, language), sentences)
  })
}

test('splitting any text into sentences loses no letter', (t) => {
  const plain = (text: string): string => text.replaceAll(/\s+/gu, '')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('en', 'fr', 'ja', 'th'), (text, language) => {
      const sentences = sentencesOf(text, language)
      return (
        plain(sentences.join('')) === plain(text) &&
        sentences.every((sentence) => sentence !== '' && sentence === sentence.trim())
      )
    }),
  )
  t.pass()
})
