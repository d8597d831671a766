import test from 'ava'
import {
  createAttentionDriver, finalTextsOf, samplesOf, speechState, wordOf,
} from '../../../../../support/pipeline/attention-driver.ts'

const [ask, not, what] = [wordOf(' Ask', 0.1, 0.4), wordOf(' not', 0.5, 0.8), wordOf(' what', 0.9, 1.2)]

test('when a full pass differs from the drafts, the surer words win', (t) => {
  const { transcribe, emit } = createAttentionDriver()
  const drafted = [
    ask,
    wordOf(' knot', 0.5, 0.8, 0.4),
    what,
    wordOf(' solved', 1.3, 1.6, 0.8),
    wordOf(' now', 1.7, 1.9, 0.3),
  ]
  transcribe(speechState(2.2, [[0, 2]]), drafted)
  const full = [ask, not, what, wordOf(' soul', 1.3, 1.4, 0.5), wordOf(' fed', 1.4, 1.6, 0.5), wordOf(' now', 1.7, 1.9)]
  t.deepEqual(transcribe(speechState(3.2, [[0, 2]], true), full).pass.beginning?.prefix, [])
  t.deepEqual(finalTextsOf(emit(speechState(3.2, [[0, 2]], true))), ['Ask not what solved now'])
})

test('a phrase whose draft was sure of the end becomes final without a full pass', (t) => {
  const { transcribe, emit, next } = createAttentionDriver({ buffer_timeout: 1 })
  transcribe(speechState(1.5, [[0, 1.3]]), [ask, not, wordOf(' what.', 0.9, 1.2)])
  t.is(next(speechState(1.75, [[0, 1.3]])).kind, 'wait', 'the speaker may continue')
  t.is(emit(speechState(1.85, [[0, 1.3]])).partial?.text, 'Ask not what.')
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not what.'])

  const continued = createAttentionDriver({ buffer_timeout: 1 })
  continued.transcribe(speechState(1.5, [[0, 1.3]]), [ask, not, wordOf(' what.', 0.9, 1.2)])
  const later = continued.transcribe(speechState(3, [[0, 1.3], [1.7]]), [wordOf(' you', 1.9, 2.2)])
  t.is(later.outcome.partial?.text, 'Ask not what you', 'the unsent end of the sentence is dropped')
})

test('words that repeat the prompt are dropped if they have no duration or are known', (t) => {
  const { transcribe } = createAttentionDriver()
  transcribe(speechState(1.5, [[0]]), [ask])
  const repeated = [' Ask', ' not', ' what', ' Ask'].map((text) => wordOf(text, 1.9, 1.9))
  t.is(
    transcribe(speechState(2.8, [[0, 2.6]]), [not, ...repeated, wordOf(' you', 2, 2.5)]).outcome.partial?.text,
    'Ask not you',
  )

  const repeating = createAttentionDriver()
  repeating.transcribe(speechState(1.5, [[0, 1.3]]), [ask, not, what])
  const repeatedWords = [ask, not, what, wordOf(' you', 1.9, 2.2)]
  const { outcome } = repeating.transcribe(speechState(3, [[0, 1.3], [1.7]]), repeatedWords)
  t.is(outcome.partial?.text, 'Ask not what you', 'the model transcribed the known words again')
})

test('an unsure short burst of sound gives no words, and the dropped words are counted', (t) => {
  for (const [probability, finals] of [[0.45, []], [0.55, ['Ask not']]] as const) {
    const { transcribe, emit } = createAttentionDriver()
    const unsure = [wordOf(' Ask', 0.1, 0.4, probability), wordOf(' not', 0.5, 0.8, probability)]
    transcribe(speechState(1.5, [[0, 1.3]]), unsure)
    const { outcome } = transcribe(speechState(2.4, [[0, 1.3]], true), unsure)
    t.deepEqual(outcome.discarded, finals.length === 0 ? { cause: 'unsure', words: 2 } : null)
    t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), finals)
  }
})

test('unsure words at the end of a longer text are kept, unlike a short burst', (t) => {
  const { transcribe, emit } = createAttentionDriver({ max_chars: 8, max_lines: 1 })
  const unsure = wordOf(' what', 0.9, 1.2, 0.45)
  transcribe(speechState(3, [[0]]), [ask, not, unsure])
  t.deepEqual(finalTextsOf(emit(speechState(3, [[0]]))), ['Ask not'])
  transcribe(speechState(4.5, [[0, 1.9]], true), [unsure])
  t.deepEqual(finalTextsOf(emit(speechState(4.5, [[0, 1.9]], true))), ['what'])
})

test('speech without any word is transcribed again without the previous text', (t) => {
  const { transcribe, next } = createAttentionDriver()
  transcribe(speechState(1.5, [[0, 1.3]]), [ask, not, what])
  const wordless = transcribe(speechState(4, [[0, 1.3], [2]]), [])
  t.deepEqual(finalTextsOf(wordless.outcome), ['Ask not what'])
  const step = next(speechState(4, [[0, 1.3], [2]]))
  t.deepEqual(step.kind === 'pass' && step.pass, {
    from: samplesOf(2) - samplesOf(0.15),
    to: samplesOf(4),
    isDraft: true,
    isSpeaking: true,
    beginning: { context: [], prefix: [] },
  })
  const repeated = transcribe(speechState(4, [[0, 1.3], [2]]), [])
  t.deepEqual(finalTextsOf(repeated.outcome), [], 'the pass is repeated only once')
  t.is(next(speechState(4, [[0, 1.3], [2]])).kind, 'wait')
})

test('if the beginning of a first word gave no text, it is transcribed again with the rest', (t) => {
  const { transcribe } = createAttentionDriver()
  transcribe(speechState(1.5, [[0.5, 1.2]]), [])
  t.is(transcribe(speechState(2.6, [[0.5, 1.2], [1.5]]), [ask]).pass.from, samplesOf(0.5) - samplesOf(0.15))
})
