import test from 'ava'
import fc from 'fast-check'
import {
  combineTranscriptions,
} from '../../../../../../application/pipeline/policy/by-attention/combine-transcriptions.ts'
import { textOf } from '../../../../../../application/pipeline/policy/words.ts'
import { wordOf } from '../../../../../support/pipeline/attention-driver.ts'

/** The words that one pass found. Two passes over equal audio give two transcriptions, which are combined. */
const transcription = fc
  .array(
    fc.record({
      text: fc.constantFrom(' a', ' b', ' c'),
      length: fc.double({ min: 0, max: 1, noNaN: true }),
      sure: fc.double({ min: 0.01, max: 1, noNaN: true }),
    }),
    { maxLength: 8 },
  )
  .map((words) => words.map(({ text, length, sure }, i) => wordOf(text, i, i + length, sure)))

test('two equal transcriptions give the later one; each word comes from one of the two, in time order', (t) => {
  fc.assert(
    fc.property(transcription, transcription, (earlier, later) => {
      t.deepEqual(combineTranscriptions(later, later), later)
      const words = combineTranscriptions(earlier, later)
      const sources = new Set([...earlier, ...later].map(({ tokens }) => tokens))
      t.true(words.every(({ tokens }) => sources.has(tokens)))
      t.true(words.every(({ start, end }, i) => start <= end && start >= (words[i - 1]?.end ?? 0)))
    }),
  )
})

test('a word of only one transcription stays when its probability is above one half', (t) => {
  const sharedWord = wordOf(' Ask', 0, 0.4)
  const texts = [0.4, 0.6].flatMap((sure) => {
    const longer = [sharedWord, wordOf(' to', 0.5, 0.6, sure)]
    return [textOf(combineTranscriptions([sharedWord], longer)), textOf(combineTranscriptions(longer, [sharedWord]))]
  })
  t.deepEqual(texts, ['Ask', 'Ask', 'Ask to', 'Ask to'])
})
