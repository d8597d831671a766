import test from 'ava'
import fc from 'fast-check'
import {
  newestCaption, splitIntoCaptions, withoutPunctuation, wrapped,
} from '../../../../domain/transcript/captions.ts'

const letters = ['a', 'b', 'é', 'ß', '好', 'e\u0301', '👩‍👧', '🎧', '.', '7']
const word = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 14 }).map((parts) => parts.join(''))
const sentence = fc.array(word, { maxLength: 25 }).map((words) => words.join(' '))
const shape = fc.record({ maxChars: fc.integer({ min: 1, max: 30 }), maxLines: fc.integer({ min: 1, max: 4 }) })

const fits = (caption: string, { maxChars, maxLines }: { maxChars: number; maxLines: number }): boolean => {
  const lines = caption.split('\n')
  return lines.length <= maxLines && lines.every((line) => [...line].length <= maxChars)
}

test('no caption line is longer than max_chars, and no caption has more than max_lines lines', (t) => {
  fc.assert(
    fc.property(sentence, shape, (text, room) => {
      t.true(fits(newestCaption(text, room), room))
      for (const { caption } of splitIntoCaptions(text, room)) t.true(fits(caption, room))
    }),
  )
})

test('a final split into captions loses no word and no letter', (t) => {
  fc.assert(
    fc.property(sentence, shape, (text, room) => {
      const captions = splitIntoCaptions(text, room)
      t.is(captions.map((caption) => caption.text).join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
      t.true(
        captions.every(
          ({ text: part, caption, from, to }) =>
            part === text.slice(from, to) && part.trim() === part && caption !== '',
        ),
      )
      t.true(captions.every(({ text: part, caption }) => caption.replaceAll(/[\n ]/g, '') === part.replaceAll(' ', '')))
    }),
  )
})

test('words that fit a line are never broken', (t) => {
  fc.assert(
    fc.property(sentence.map((text) => text.replaceAll('好', 'ж')), fc.integer({ min: 1, max: 4 }), (text, maxLines) => {
      const captions = splitIntoCaptions(text, { maxChars: 60, maxLines })
      const words = captions.flatMap(({ caption }) => caption.split(/[\n ]/))
      t.deepEqual(words.filter((part) => part !== ''), text.split(' ').filter((part) => part !== ''))
    }),
  )
})

test('a partial keeps its newest lines', (t) => {
  t.is(newestCaption('one two three four five', { maxChars: 9, maxLines: 2 }), 'three\nfour five')
  t.is(newestCaption('', { maxChars: 9, maxLines: 2 }), '')
  t.is(newestCaption('a incomprehensibilities b', { maxChars: 10, maxLines: 9 }), 'a\nincomprehe\nnsibilitie\ns b')
})

test('a letter and its accents stay together unless a line holds one character', (t) => {
  t.is(newestCaption('ae\u0301o', { maxChars: 2, maxLines: 9 }), 'a\ne\u0301\no')
  t.is(newestCaption('e\u0301', { maxChars: 1, maxLines: 9 }), 'e\n\u0301')
})

test('wide characters take two columns', (t) => {
  const narrow = ['a', 'é', 'ß', 'ｱ', '…', 'я', 'ا']
  const wide = ['好', 'あ', 'ア', 'ー', '한', '。', '（', 'Ａ', '￥', '🎧', '㍿', 'ㄅ']
  for (const letter of narrow) t.is(wrapped(letter.repeat(8), 8), letter.repeat(8))
  for (const letter of wide) {
    t.is(wrapped(letter.repeat(4), 8), letter.repeat(4))
    t.not(wrapped(letter.repeat(5), 8), letter.repeat(5), letter)
  }
})

const WRAPPED: ReadonlyArray<readonly [text: string, maxChars: number, lines: ReadonlyArray<string>]> = [
  ['มหาวิทยาลัยเปิดระบบใหม่', 14, ['มหาวิทยาลัย', 'เปิดระบบใหม่']],
  ['今日は天気がいいですね。散歩に行きましょう。', 26, ['今日は天気がいいですね。', '散歩に行きましょう。']],
  ['彼は「時間がない」と言った。', 16, ['彼は「時間が', 'ない」と言った。']],
  ['大家早上好，欢迎参加讨论会。', 16, ['大家早上好，', '欢迎参加讨论会。']],
  ['Tu viens demain ?', 16, ['Tu viens', 'demain ?']],
  ['Il dit « oui » et part', 10, ['Il dit', '« oui »', 'et part']],
  ['Price 25 € (net)', 10, ['Price 25 €', '(net)']],
  ['one two three four five six', 20, ['one two three', 'four five six']],
  ['He stayed at home, and then she left', 25, ['He stayed at home,', 'and then she left']],
]

test('lines break at words of any script and at clauses, about evenly, and marks stay where they belong', (t) => {
  for (const [text, maxChars, lines] of WRAPPED) t.deepEqual(wrapped(text, maxChars).split('\n'), lines)
})

const captionsOf = (text: string, maxChars: number, maxLines = 1, isOpen = false): ReadonlyArray<string> =>
  splitIntoCaptions(text, { maxChars, maxLines }, isOpen).map((caption) => caption.text)

test('a caption ends at a sentence, or else at a clause, that ends in its last 40 percent', (t) => {
  t.deepEqual(captionsOf('We went home. Then it rained, and we slept until the next morning', 32), [
    'We went home. Then it rained,', 'and we slept until', 'the next morning',
  ])
  t.deepEqual(captionsOf('We all went home. Then, it rained and rained', 28), [
    'We all went home.', 'Then, it rained and rained',
  ])
  t.deepEqual(captionsOf('Go. Then we walked to the harbour of the town', 24), [
    'Go. Then we walked to', 'the harbour of the town',
  ])
  t.deepEqual(captionsOf('We spoke with Mr. Hill about the 3. May and 2.5 more', 28), [
    'We spoke with Mr. Hill about', 'the 3. May and 2.5 more',
  ])
})

test('the last two captions of a text are about equally long, and no word is left alone', (t) => {
  t.deepEqual(captionsOf('one two three four five six seven', 30), ['one two three four', 'five six seven'])
  t.deepEqual(captionsOf('one two three four five six seven', 30, 1, true), ['one two three four five', 'six seven'])
  t.deepEqual(captionsOf('aaa bbb ccc ddd eee fff ggg hhh iii', 15), ['aaa bbb ccc ddd', 'eee fff ggg', 'hhh iii'])
})

const WITHOUT_PUNCTUATION: ReadonlyArray<readonly [string, string]> = [
  ['Wait, what? Yes! No; maybe: so.', 'Wait what Yes No maybe so'],
  ['At 10:30, 3.5 of 1,000.', 'At 10:30 3.5 of 1,000'],
  ['.5 and 7.', '.5 and 7'],
  ['It costs $.50, (.5) of 1.', 'It costs $.50 (.5) of 1'],
  ['the U.S. and Mr. Quilter', 'the U.S and Mr Quilter'],
  ['Go to docs.example.com. Version v1.2: out now!', 'Go to docs.example.com Version v1.2 out now'],
  ['EU:s och 3:e, e.g. så.', 'EU:s och 3:e e.g så'],
  ['𝐀.𝐁. 𝐂,𝐃', '𝐀.𝐁 𝐂 𝐃'],
  ['one,two yes!no what?so', 'one two yes no what so'],
  ['well... yes… no...maybe', 'well yes no maybe'],
  ['"Yes." (No?) he said.', '"Yes" (No) he said'],
  ['¿Qué? ¡Sí!', 'Qué Sí'],
  ['你好，世界。「はい」、３．５！', '你好 世界「はい」３．５'],
  ['你好.世界:はい', '你好 世界 はい'],
  ['مرحبا، كيف حالك؟', 'مرحبا كيف حالك'],
  ['نعم،لا', 'نعم لا'],
  ['क्या हाल है। ठीक', 'क्या हाल है ठीक'],
  ["don't re-read it", "don't re-read it"],
  ['... ?! .', ' '],
  ['', ''],
]

test('punctuation is removed, except inside numbers, names and abbreviations', (t) => {
  for (const [text, bare] of WITHOUT_PUNCTUATION) t.is(withoutPunctuation(text), bare)
})

test('marks remain only between letters or before digits, and no letter is lost', (t) => {
  const pieces = Array.from('.,?!;:…،。， 7３aéш好は𝐀$(𝐁\n')
  const marks = /[.,?!;:…،。，]/gu
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join('')), (text) => {
      const bare = withoutPunctuation(text)
      t.notRegex(bare, /[.,?!;:…،。，](?![\p{L}\p{N}])|[,?!;…،。，](?!\p{N})/u)
      t.is(bare.replaceAll(marks, '').replaceAll(/\s/gu, ''), text.replaceAll(marks, '').replaceAll(/\s/gu, ''))
      // Texts with digits, full stops, colons or brackets are skipped here, because they follow separate rules.
      const words = text.split(/[,?!;…،。，\s]+/u).filter((word) => word !== '')
      if (words.every((word) => /^\p{L}+$/u.test(word)))
        t.deepEqual(bare.split(' ').filter((word) => word !== ''), words)
      t.is(withoutPunctuation(bare), bare)
    }),
    { numRuns: 2000 },
  )
})
