import test from 'ava'
import { borderFaults } from '../../../bench/speech/borders.ts'
import { differences } from '../../../bench/speech/compare.ts'
import { figuresOf, scoredText } from '../../../bench/speech/figures.ts'
import { compareTexts, rateOf, recallOf, sumOf } from '../../../bench/speech/score.ts'
import { screensOf, spokenWords, takenBack, wordDelays } from '../../../bench/speech/screen.ts'
import { tokensOf } from '../../../bench/speech/words.ts'

const wordsOf = (text: string, language = 'en'): string => tokensOf(text, language).map(({ word }) => word).join(' ')
const errorsOf = (spoken: string, text: string, language = 'en') => compareTexts(spoken, text, language).errors

test('words are compared without case and punctuation, English numbers as digits', (t) => {
  t.is(wordsOf('“The cat’s” ill-disposed; MR. Cat’s'), "the cat's ill disposed mr cat's")
  t.is(wordsOf('in the fifteenth century, forty-two lines, fifteen or twenty'), 'in the 15th century 42 lines 15 or 20')
  t.is(wordsOf('fourteen fifty-five, nineteen hundred, two hundred five thousand six'), '1455 1900 205006')
  t.is(wordsOf('twenty one, two'), '21 2')
  t.is(wordsOf('one two. Three. Twenty-first, eleventh'), '1 2 3 21st 11th')
  t.is(wordsOf('zwei Hunde', 'de'), 'zwei hunde')
  t.is(wordsOf('元気 です。', 'ja'), '元 気 で す')
  t.is(wordsOf('그는 길로', 'ko'), '그는 길로')
})

test('aligned words that differ are substitutions; other differences are insertions or deletions', (t) => {
  t.like(errorsOf('the cat sat', 'the dog sat'), { words: 3, substituted: 1, inserted: 0, deleted: 0 })
  t.like(errorsOf('the cat sat', 'the very black cat sat'), { substituted: 0, inserted: 2, deleted: 0 })
  t.like(errorsOf('the cat sat down', 'the down'), { substituted: 0, inserted: 0, deleted: 2 })
  t.like(errorsOf('a b c d', 'a x y d e'), { substituted: 2, inserted: 1, deleted: 0 })
  const pooled = sumOf([errorsOf('one two', 'one'), errorsOf('a b c d e f g h', 'a b c d e f g h')])
  t.is(rateOf(pooled), 10)
  t.is(recallOf(pooled), 90)
  t.is(recallOf(errorsOf('a b c d e', 'x y z a b d e')), 80, 'inserted words do not count')
})

test('a false sentence end is counted, also after a wrong word; the end of the text is not counted', (t) => {
  const torn = errorsOf('My fellow Americans, ask not what.', 'My fellow Americans. ASK NOT! What.')
  t.like(torn, { false_ends: 2, false_capitals: 3 })
  t.like(errorsOf('He came. She went.', 'He came. She went.'), { false_ends: 0, false_capitals: 0 })
  t.like(errorsOf('a cat sat on it', 'A bat. Sat on it.'), { false_ends: 1, false_capitals: 1 })
  t.like(errorsOf('He came here. She went', 'He came hither. She went'), { false_ends: 0 })
  t.like(errorsOf('Mr Smith came', 'Mr. Smith came'), { false_ends: 0 })
  t.like(errorsOf('it costs 3 5 euros', 'it costs 3.5 euros'), { false_ends: 0 })
})

test('differences at segment borders are reported by kind', (t) => {
  const faults = (spoken: string, segments: ReadonlyArray<string>) => {
    const found = borderFaults(compareTexts(spoken, segments.join(' '), 'en'), segments, 'en', null)
    return found.map(({ kind, words }) => `${kind} ${words}`)
  }
  t.deepEqual(faults('the cat sat on the mat', ['the cat sat', 'on the mat']), [])
  t.deepEqual(faults('the cat sat on the mat', ['the cat sat', 'cat sat on the mat']), ['doubled 2'])
  const repeated = ['he sat on the mat and', 'slept he sat on the mat and purred']
  t.deepEqual(
    faults('he sat on the mat and purred', repeated),
    ['doubled 7'],
    'the doubled word is not next to the border',
  )
  t.deepEqual(faults('he sat on the mat and purred', ['he sat on the', 'old red and soft mat and purred']), [
    'inserted 4',
  ])
  t.deepEqual(faults('the cat sat on the mat', ['the cat', 'on the mat']), ['lost 1'])
  t.deepEqual(faults('the cat sat on the mat', ['the cat sat well', 'on the mat']), ['inserted 1'])
  t.deepEqual(faults('the cat sat on the mat', ['the cat sad', 'on the mat']), ['changed 1'])
  t.deepEqual(faults('the cat sat on the mat', ['the rat sat', 'on the mat']), [])
})

test('the cause of a difference at a border follows from the offline result of the same model', (t) => {
  const [right, torn] = ['the cat sat on the mat', ['the cat sad', 'on the mat']]
  const causes = (offline: string | null, spoken = right, segments = torn) => {
    const reference = offline === null ? null : compareTexts(spoken, offline, 'en')
    const live = compareTexts(spoken, segments.join(' '), 'en')
    return borderFaults(live, segments, 'en', reference).map(({ cause }) => cause)
  }
  t.deepEqual(causes(null), ['unknown'])
  t.deepEqual(causes('the cat sat on the map'), ['live'])
  t.deepEqual(causes('the cat sad on the mat'), ['offline'])
  t.deepEqual(causes('the cat fat on the mat'), ['differently'])
  t.deepEqual(causes('the rat sat on the mat'), ['live'], 'the neighbour word is missing')
  const doubled = ['the cat sat', 'sat on the mat']
  t.deepEqual(causes('the cat sat sat on the mat', undefined, doubled), ['offline'])
  t.deepEqual(causes('the cat sat on the mat', undefined, doubled), ['live'])
  t.deepEqual(causes('the database fell', 'the data base fell', ['the database', 'fell']), ['spelling'])
})

const frame = (at: number, text: string, final = false, caption = text) =>
  ({ at, final, text, caption, segment: 1, start: 0, end: 0 })
const SPOKEN = spokenWords([[0, 0.5, 'The'], [0.5, 1, 'ill'], [1, 1.5, '-kept'], [1.5, 2, 'cat.'], [4, 5, 'It']], 'en')

test('a word of the manifest that begins with a hyphen continues the previous word', (t) => {
  t.deepEqual(SPOKEN.map(({ word, end }) => `${word} ${end}`), ['the 0.5', 'ill 1', 'kept 1.5', 'cat 2', 'it 5'])
})

test('a word is shown when a screen first contains it, and settled when it never changes again', (t) => {
  const frames = [frame(1, 'The ill'), frame(2, 'The hill kept'), frame(3, 'The ill kept cat', true), frame(6, 'It')]
  const { shown, settled } = wordDelays(SPOKEN, screensOf(frames, 'en', 'text'))
  t.deepEqual(shown, [0.5, 0, 0.5, 1, 1])
  t.deepEqual(settled, [0.5, 2, 0.5, 1, 1])
})

test('a word that vanishes or changes is taken back; in captions, a word that scrolls out too', (t) => {
  const scrolled = frame(3, 'the cat sat down', false, 'sat\ndown')
  const frames = [frame(1, 'the bat'), frame(2, 'the cat sat'), scrolled, frame(4, 'the cat sat', true)]
  t.deepEqual(takenBack(screensOf(frames, 'en', 'text')), { shown: 5, taken: 2 })
  t.deepEqual(takenBack(screensOf(frames, 'en', 'caption')), { shown: 7, taken: 4 })
})

test('different results of two runs are reported next to the spoken text', (t) => {
  t.deepEqual(differences('the cat sat on the mat', 'the bat sat on the mat', 'the cat sat at the map', 'en'), [
    'better: "bat" is now "cat" (said: "cat")',
    'worse: "on" is now "at" (said: "on")',
    'worse: "mat" is now "map" (said: "mat")',
  ])
})

test('error rates are pooled over all words of a group', (t) => {
  const recording = (language: string, said: string, text: string) => {
    const texts = { reference: scoredText({ text: said, language }, text) }
    return { name: said, language, unit: 'words' as const, seconds: 1, said, texts, live: null }
  }
  const german = recording('de', 'ein Hund', 'ein Hund')
  const figures = figuresOf([recording('en', 'a', 'b'), recording('en', 'a b c', 'a b c'), german])
  t.deepEqual(figures.map(({ group, texts }) => [group, texts['reference']?.wer]), [
    ['english', 25], ['others', 0], ['de', 0], ['en', 25], ['all', 16.67],
  ])
})
