import test from 'ava'
import fc from 'fast-check'
import type { Segment } from '../../../../../application/pipeline/pipeline.ts'
import type { SegmentWord } from '../../../../../domain/transcript/events.ts'
import { finalSegments } from '../../../../../application/pipeline/policy/segments.ts'
import type { Word } from '../../../../../application/pipeline/policy/words.ts'
import { createAttentionDriver, speechState, wordOf } from '../../../../support/pipeline/attention-driver.ts'

const WIDE = { maxChars: 80, maxLines: 2 }
const word = (text: string, start: number, end: number, confidence = 0.9): Word => ({ text, start, end, confidence })
const rows = ({ words = [] }: Pick<Segment, 'words'>): ReadonlyArray<readonly [string, number, number]> =>
  words.map(({ text, start, end }) => [text, start, end])

test('a final lists its words in order, with their spaces and the certainty of the model', (t) => {
  const [segment] = finalSegments([word(' Ask', 1, 1.4, 0.91234), word(' not.', 1.5, 2, 0.4)], WIDE, 1, 0)
  t.deepEqual(segment?.words, [
    { text: 'Ask', start: 1, end: 1.4, confidence: 0.912 },
    { text: ' not.', start: 1.5, end: 2, confidence: 0.4 },
  ] satisfies ReadonlyArray<SegmentWord>)
})

test('words with estimated times are not listed', (t) => {
  const [segment] = finalSegments([{ text: 'Ask', start: 1, end: 1.4 }, word(' not', 1.5, 2)], WIDE, 1, 0)
  t.is(segment?.text, 'Ask not')
  t.false('words' in (segment ?? {}))
})

test('a word that is split over captions is listed in each of them, with the time of its part', (t) => {
  const segments = finalSegments([word(' a', 0, 0.5), word(' abcdefgh', 1, 3)], { maxChars: 4, maxLines: 1 }, 1, 0)
  t.deepEqual(segments.map(rows), [[['a', 0, 0.5]], [['abcd', 1, 2]], [['efgh', 2, 3]]])
})

test('scripts without spaces are listed by the words of the model', (t) => {
  const [segment] = finalSegments([word('東京', 0, 1), word('は、', 1, 1.2), word('暑い', 1.2, 2)], WIDE, 1, 0)
  t.deepEqual(rows(segment ?? {}).map(([text]) => text), ['東京', 'は、', '暑い'])
})

test('a word of punctuation only is dropped when punctuation is off', (t) => {
  const [segment] = finalSegments(
    [word(' ', 0, 0.2), word(' so', 0.4, 1), word('', 1, 1), word(' on', 1.2, 2)],
    WIDE,
    1,
    0,
  )
  t.deepEqual(rows(segment ?? {}), [['so', 0.4, 1], [' on', 1.2, 2]])
})

test('the words of a final form its text, advance in time and lie within the final', (t) => {
  const text = fc.stringMatching(/^[ ]?[a-zé東、.,-]{0,12}$/u)
  const words = fc.array(
    fc.record({
      text,
      start: fc.double({ min: 0, max: 9, noNaN: true }),
      duration: fc.double({ min: 0, max: 2, noNaN: true }),
    }),
  )
  const shape = fc.record({ maxChars: fc.integer({ min: 1, max: 20 }), maxLines: fc.integer({ min: 1, max: 3 }) })
  fc.assert(
    fc.property(words, shape, fc.double({ min: 0, max: 5, noNaN: true }), (all, room, notBefore) => {
      const spoken = all.map(({ text, start, duration }) => word(text, start, start + duration))
      for (const { words: segmentWords = [], ...segment } of finalSegments(spoken, room, 1, notBefore)) {
        t.is(segmentWords.map(({ text }) => text).join(''), segment.text)
        let last = segment.start
        for (const { start, end } of segmentWords) {
          t.true(start >= last && end >= start && end <= segment.end)
          last = end
        }
      }
    }),
  )
})

test('the certainty of a word is the mean over its tokens without punctuation', (t) => {
  const { transcribe, policy, limits } = createAttentionDriver()
  transcribe(speechState(2, [[0, 1.3]]), [wordOf(' trans', 0.1, 0.4, 0.9)])
  transcribe(speechState(3, [[0, 1.3], [1.7]]), [{ ...wordOf('lation', 1.7, 2, 0.4), probability: 0.1 }])
  const [final] = policy.finishNow(limits).finals
  t.deepEqual(final?.words?.map(({ text, confidence }) => [text, confidence]), [['translation', 0.6]])
})
