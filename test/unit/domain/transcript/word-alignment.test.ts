import test from 'ava'
import fc from 'fast-check'
import { alignWords, comparableWords, wordErrorRate } from '../../../../domain/transcript/word-alignment.ts'

test('words compare without case and punctuation, in any script', (t) => {
  t.deepEqual(comparableWords("It's Eight-thirty; “Où?” 객관적 3.5"), ["it's", 'eight', 'thirty', 'où', '객관적', '3', '5'])
})

test('a substitution, an insertion and a deletion are one error each', (t) => {
  t.is(wordErrorRate('the cat sat on the mat', 'the cat sat on the mat'), 0)
  t.is(wordErrorRate('the cat sat', 'the dog sat'), 1 / 3)
  t.is(wordErrorRate('the cat sat', 'the black cat sat'), 1 / 3)
  t.is(wordErrorRate('the cat sat', 'the sat'), 1 / 3)
  t.is(wordErrorRate('one two', ''), 1)
})

test('in prefix mode, reference words that are not spoken yet are neither errors nor matches', (t) => {
  const reference = comparableWords('the cat and the dog and the bird')
  t.deepEqual(alignWords(reference, ['the', 'cat'], 'prefix'), { errors: 0, matches: [[0, 0], [1, 1]] })
  t.deepEqual(alignWords(reference, ['the', 'bat', 'and', 'the'], 'prefix'), {
    errors: 1,
    matches: [
      [0, 0],
      [2, 2],
      [3, 3],
    ],
  })
})

test('matches are equal words in order, and all other words are errors', (t) => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(words, words, (reference, hypothesis) => {
      const { errors, matches } = alignWords(reference, hypothesis)
      for (const [i, j] of matches) if (reference[i] !== hypothesis[j]) return false
      const isOrdered = matches.every(
        ([i, j], k) => k === 0 || (i > (matches[k - 1]?.[0] ?? -1) && j > (matches[k - 1]?.[1] ?? -1)),
      )
      const minimumErrors = Math.max(reference.length, hypothesis.length) - matches.length
      return isOrdered && errors >= minimumErrors && errors <= Math.max(reference.length, hypothesis.length)
    }),
  )
  t.pass()
})
