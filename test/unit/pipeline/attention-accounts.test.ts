import test from 'ava'
import { attentionBench, finalsOf, samples, speech, word } from '../../support/worlds/attention-bench.ts'

const [ask, not, what] = [word(' Ask', 0.1, 0.4), word(' not', 0.5, 0.8), word(' what', 0.9, 1.2)]

test('where a full window heard otherwise, the words stand that their own pass was surer of', (t) => {
  const { hears, says } = attentionBench()
  const drafted = [ask, word(' knot', 0.5, 0.8, 0.4), what, word(' solved', 1.3, 1.6, 0.8), word(' now', 1.7, 1.9, 0.3)]
  hears(speech(2.2, [[0, 2]]), drafted)
  const full = [ask, not, what, word(' soul', 1.3, 1.4, 0.5), word(' fed', 1.4, 1.6, 0.5), word(' now', 1.7, 1.9)]
  t.deepEqual(hears(speech(3.2, [[0, 2]], true), full).pass.beginning?.prefix, [])
  t.deepEqual(finalsOf(says(speech(3.2, [[0, 2]], true))), ['Ask not what solved now'])
})

test('a phrase ends as its draft heard it where that was sure of the end; a full window would cost and say the same', (t) => {
  const { hears, says, next } = attentionBench({ buffer_timeout: 1 })
  hears(speech(1.5, [[0, 1.3]]), [ask, not, word(' what.', 0.9, 1.2)])
  t.is(next(speech(1.75, [[0, 1.3]])).kind, 'wait', 'somebody may go on speaking')
  t.is(says(speech(1.85, [[0, 1.3]])).partial?.text, 'Ask not what.')
  t.deepEqual(finalsOf(says(speech(2.4, [[0, 1.3]], true))), ['Ask not what.'])

  const behind = attentionBench({ buffer_timeout: 1 })
  behind.hears(speech(1.5, [[0, 1.3]]), [ask, not, word(' what.', 0.9, 1.2)])
  const on = behind.hears(speech(3, [[0, 1.3], [1.7]]), [word(' you', 1.9, 2.2)])
  t.is(on.outcome.partial?.text, 'Ask not what you', 'the end that was not told is forgotten')
})

test('what the model was told before and says again is not heard: words behind each other in no time, or before what is known', (t) => {
  const { hears } = attentionBench()
  hears(speech(1.5, [[0]]), [ask])
  const again = [' Ask', ' not', ' what', ' Ask'].map((text) => word(text, 1.9, 1.9))
  t.is(hears(speech(2.8, [[0, 2.6]]), [not, ...again, word(' you', 2, 2.5)]).outcome.partial?.text, 'Ask not you')

  const back = attentionBench()
  back.hears(speech(1.5, [[0, 1.3]]), [ask, not, what])
  t.is(back.hears(speech(3, [[0, 1.3], [1.7]]), [ask, not, what, word(' you', 1.9, 2.2)]).outcome.partial?.text, 'Ask not what you', 'its attention went back')
})

test('a burst of sound that the model is not sure of has no words; what is left out is counted', (t) => {
  for (const [probability, finals] of [[0.45, []], [0.55, ['Ask not']]] as const) {
    const { hears, says } = attentionBench()
    const unsure = [word(' Ask', 0.1, 0.4, probability), word(' not', 0.5, 0.8, probability)]
    hears(speech(1.5, [[0, 1.3]]), unsure)
    const { outcome } = hears(speech(2.4, [[0, 1.3]], true), unsure)
    t.deepEqual(outcome.leftOut, finals.length === 0 ? { cause: 'unsure', words: 2 } : null)
    t.deepEqual(finalsOf(says(speech(2.4, [[0, 1.3]], true))), finals)
  }
})

test('the unsure rest of what was said before is no burst by itself', (t) => {
  const { hears, says } = attentionBench({ max_chars: 8, max_lines: 1 })
  const unsure = word(' what', 0.9, 1.2, 0.45)
  hears(speech(3, [[0]]), [ask, not, unsure])
  t.deepEqual(finalsOf(says(speech(3, [[0]]))), ['Ask not'])
  hears(speech(4.5, [[0, 1.9]], true), [unsure])
  t.deepEqual(finalsOf(says(speech(4.5, [[0, 1.9]], true))), ['what'])
})

test('speech that a pass left without any word is heard anew, without the text before it', (t) => {
  const { hears, next } = attentionBench()
  hears(speech(1.5, [[0, 1.3]]), [ask, not, what])
  const deaf = hears(speech(4, [[0, 1.3], [2]]), [])
  t.deepEqual(finalsOf(deaf.outcome), ['Ask not what'])
  const step = next(speech(4, [[0, 1.3], [2]]))
  t.deepEqual(step.kind === 'pass' && step.pass, {
    from: samples(2) - samples(0.15), to: samples(4), isDraft: true, isSpeaking: true, beginning: { context: [], prefix: [] },
  })
  t.deepEqual(finalsOf(hears(speech(4, [[0, 1.3], [2]]), []).outcome), [], 'once')
  t.is(next(speech(4, [[0, 1.3], [2]])).kind, 'wait')
})

test('the beginning of a first word, heard alone as nothing, is heard again with the rest', (t) => {
  const { hears } = attentionBench()
  hears(speech(1.5, [[0.5, 1.2]]), [])
  t.is(hears(speech(2.6, [[0.5, 1.2], [1.5]]), [ask]).pass.from, samples(0.5) - samples(0.15))
})
