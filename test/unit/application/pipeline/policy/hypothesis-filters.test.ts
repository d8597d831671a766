import test from 'ava'
import { isLoop, judge } from '../../../../../application/pipeline/policy/hypothesis-filters.ts'
import type { Hypothesis } from '../../../../../application/ports/engine.ts'

const hypothesisOf = (text: string, scores: Partial<Hypothesis> = {}): Hypothesis => ({
  segments: [{ start: 0, end: 5, text }],
  avgLogprob: -0.3,
  noSpeechProb: 0.1,
  compressionRatio: 1.3,
  ...scores,
})

test('an ordinary hypothesis is accepted as words', (t) => {
  t.is(judge(hypothesisOf(' We meet at half past three.')), 'words')
  t.is(judge(hypothesisOf(' Certain, though silent at first.', { noSpeechProb: 0.9 })), 'words')
})

test('text that compresses too well or that the model doubts is rejected', (t) => {
  t.is(judge(hypothesisOf(' words', { compressionRatio: 2.5 })), 'rejected')
  t.is(judge(hypothesisOf(' words', { compressionRatio: 2.4 })), 'words')
  t.is(judge(hypothesisOf(' words', { avgLogprob: -1.1 })), 'rejected')
})

test('doubtful text over probable silence counts as silence', (t) => {
  t.is(judge(hypothesisOf(' Thank you.', { noSpeechProb: 0.7, avgLogprob: -1.2 })), 'silence')
  t.is(judge(hypothesisOf('')), 'silence')
  t.is(judge({ ...hypothesisOf(''), segments: [] }), 'silence')
})

test('one or two unsure words are doubtful when the detector found no speech', (t) => {
  t.is(judge(hypothesisOf(' The', { avgLogprob: -0.5 }), false), 'doubtful')
  t.is(judge(hypothesisOf(' The old', { avgLogprob: -0.5 }), false), 'doubtful')
  t.is(judge(hypothesisOf(' The', { avgLogprob: -0.5 })), 'words')
  t.is(judge(hypothesisOf(' The', { avgLogprob: -0.4 }), false), 'words')
  t.is(judge(hypothesisOf(' The old sailor', { avgLogprob: -0.5 }), false), 'words')
})

test('a stuck decoder is recognised by its repetitions', (t) => {
  const repeated = (phrase: string, times: number): ReadonlyArray<string> =>
    Array.from({ length: times }, () => phrase.split(' ')).flat()
  t.true(isLoop(['so', ...repeated('no', 8)]))
  t.false(isLoop(repeated('no', 7)))
  t.true(isLoop([...repeated('the man walked on', 3), 'home']))
  t.false(isLoop(repeated('the man walked', 3)))
  t.true(isLoop(repeated('one two', 6)))
  t.false(isLoop(repeated('one two', 5)))
  t.false(isLoop(repeated('a b c d e f g h i', 3)))
  t.false(isLoop([]))
  t.is(judge(hypothesisOf(` ${'Again, '.repeat(9)}`)), 'rejected')
})
