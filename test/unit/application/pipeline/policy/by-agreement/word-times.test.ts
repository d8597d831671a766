import test from 'ava'
import fc from 'fast-check'
import { timeWords } from '../../../../../../application/pipeline/policy/by-agreement/word-times.ts'
import { withKnownTimes } from '../../../../../../application/pipeline/policy/by-agreement/alignment.ts'
import { textOf, type Word } from '../../../../../../application/pipeline/policy/words.ts'

const rounded = (words: ReadonlyArray<Word>): ReadonlyArray<readonly [string, number, number]> =>
  words.map(({ text, start, end }) => [text, Math.round(start * 100) / 100, Math.round(end * 100) / 100])

test('the words of a segment share its speech by their number of characters', (t) => {
  const words = timeWords([{ start: 0, end: 2, text: ' One three.' }], [{ start: 0, end: 2 }], 2)
  t.deepEqual(rounded(words), [[' One', 0, 0.75], [' three.', 0.75, 2]])
})

test('words lie in speech, not in the pause between', (t) => {
  const words = timeWords(
    [{ start: 0, end: 6, text: ' One two three four' }],
    [{ start: 0.5, end: 1.5 }, { start: 4, end: 5.4 }],
    6,
  )
  t.deepEqual(
    rounded(words).map(([text, start]) => [text, start]),
    [
      [' One', 0.5],
      [' two', 0.98],
      [' three', 4],
      [' four', 4.76],
    ],
  )
  t.deepEqual(rounded(words).map((word) => word[2]), [0.98, 1.5, 4.76, 5.4])
})

test('text after the end of the audio is dropped as invented', (t) => {
  const segments = [{ start: 0, end: 3, text: ' Here' }, { start: 3.5, end: 9, text: ' Thanks for watching' }]
  t.deepEqual(rounded(timeWords(segments, [], 2)), [[' Here', 0, 2]])
})

test('scripts without spaces are split into characters and joined again unchanged', (t) => {
  const texts = (text: string): ReadonlyArray<string> =>
    timeWords([{ start: 0, end: 1, text }], [], 1).map((word) => word.text)
  t.deepEqual(texts('お世話に。'), ['お', '世', '話', 'に。'])
  t.deepEqual(texts(' 我用 iPhone 打'), ['我', '用', ' iPhone', ' 打'])
  t.deepEqual(texts('안녕 하세요'), [' 안녕', ' 하세요'])
  t.is(textOf(timeWords([{ start: 0, end: 1, text: ' 我用 iPhone 打' }], [], 1)), '我用 iPhone 打')
})

test('word times are ordered and inside their segment, for any regions', (t) => {
  const instant = fc.double({ min: 0, max: 10, noNaN: true })
  const regions = fc.array(fc.tuple(instant, instant), { maxLength: 6 }).map((pairs) => {
    const at = pairs.flat().sort((a, b) => a - b)
    return pairs.map((_, i) => ({ start: at[2 * i] ?? 0, end: at[2 * i + 1] ?? 0 }))
  })
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'word', 'longer-word', '好', '-'), { minLength: 1, maxLength: 12 }),
      instant,
      instant,
      regions,
      (texts, a, b, speech) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)]
        const words = timeWords([{ start, end, text: texts.join(' ') }], speech, 10)
        let last = start
        for (const word of words) {
          t.true(word.start >= last - 1e-6 && word.end >= word.start && word.end <= end + 1e-6)
          last = word.end
        }
      },
    ),
  )
})

/** Words of one second each, from second 0. */
const wordsFrom = (...texts: ReadonlyArray<string>): ReadonlyArray<Word> =>
  texts.map((text, i) => ({ text: ` ${text}`, start: i, end: i + 1 }))
const freshTexts = (knownWords: ReadonlyArray<Word>, words: ReadonlyArray<Word>): string =>
  textOf(withKnownTimes(knownWords, words).filter(({ start }) => start > (knownWords.at(-1)?.end ?? 0) - 0.1))

test('words that repeat known words take over their times, even if the model changed some', (t) => {
  const knownWords = wordsFrom('We', 'met', 'at', 'noon')
  t.is(freshTexts(knownWords, wordsFrom('We', 'meet', 'at', 'noon.', 'Then', 'home')), 'Then home')
  t.is(freshTexts(knownWords, wordsFrom('we', 'at', 'noon', 'then')), 'then')
  t.is(freshTexts([], wordsFrom('one')), 'one')
})

test('a word spoken twice is kept twice', (t) => {
  t.is(freshTexts(wordsFrom('nine'), wordsFrom('nine', 'nine', 'eight')), 'nine eight')
  t.is(freshTexts(wordsFrom('very', 'very'), wordsFrom('very', 'very', 'very', 'good')), 'very good')
})

test('known words that a cut removed at the front do not matter', (t) => {
  const earlier = ({ text, start, end }: Word): Word => ({ text, start: start - 2, end: end - 2 })
  const knownWords = wordsFrom('one', 'two', 'three').map(earlier)
  t.is(freshTexts(knownWords, wordsFrom('three', 'four')), 'four')
  const half = [
    { text: ' oh', start: 0, end: 0.1 },
    { text: ' three', start: 0.1, end: 1 },
    { text: ' four', start: 1, end: 2 },
  ]
  t.is(freshTexts(knownWords, half), 'four')
})
