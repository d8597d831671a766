import test from 'ava'
import {
  createAttentionDriver, finalTextsOf, samplesOf, speechState, wordOf,
} from '../../../../../support/pipeline/attention-driver.ts'

const [askWord, notWord, whatWord] = [wordOf(' Ask', 0.1, 0.4), wordOf(' not', 0.5, 0.8), wordOf(' what', 0.9, 1.2)]

const DOUBTFUL = { avgLogprob: -1.1 }

test('a full pass with bad scores is used only when no draft gave text', (t) => {
  const doubted = createAttentionDriver()
  doubted.transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord])
  const doubtful = doubted.transcribe(speechState(2.4, [[0, 1.3]], true), [wordOf(' Ah', 0.9, 1.2)], DOUBTFUL)
  t.is(doubtful.outcome.partial, null)
  t.deepEqual(finalTextsOf(doubted.emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])

  const { transcribe, emit } = createAttentionDriver()
  const draft = transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord], DOUBTFUL)
  t.is(draft.outcome.partial, null, 'a doubtful draft is not shown')
  t.is(transcribe(speechState(2.4, [[0, 1.3]], true), [askWord, notWord], DOUBTFUL).outcome.partial?.text, 'Ask not')
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])
})

test('speech that no draft could use gets one full pass before its audio is dropped', (t) => {
  const { transcribe, emit, limits } = createAttentionDriver({ max_buffer: 4, min_buffer: 3 })
  for (const clock of [3, 6, 9]) transcribe(speechState(clock, [[0]]), [askWord, notWord], DOUBTFUL)
  const long = wordOf(' gibberish', 1, 7)
  const { pass } = transcribe(speechState(9, [[0]]), [askWord, long], DOUBTFUL)
  t.deepEqual([pass.isDraft, pass.to], [false, limits.buffer.longestWithContext])
  t.deepEqual(finalTextsOf(emit(speechState(9, [[0]]))), ['Ask gibberish'])

  const silent = createAttentionDriver({ max_buffer: 4, min_buffer: 3 })
  for (const clock of [3, 6, 9]) silent.transcribe(speechState(clock, [[0]]), [])
  t.deepEqual(finalTextsOf(silent.emit(speechState(9, [[0]]))), [])
  const step = silent.next(speechState(12, [[0]]))
  t.is(step.kind === 'pass' && step.pass.from, samplesOf(6), 'the oldest audio is dropped')
})

test('text that repeats itself is not shown, does not become final, and clears the context', (t) => {
  const { transcribe, emit } = createAttentionDriver()
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord])
  const loop = Array.from({ length: 8 }, (_, i) => wordOf(' no', 0.8 + i / 20, 0.85 + i / 20))
  t.is(transcribe(speechState(1.9, [[0, 1.3]]), loop).outcome.partial, null, 'the text is a loop')
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])
  const stopped = createAttentionDriver()
  t.is(stopped.transcribe(speechState(1.5, [[0, 1.3]]), [askWord], { isLoop: true }).outcome.partial, null)
  t.is(
    stopped.transcribe(speechState(2.4, [[0, 1.3]], true), [askWord], { isLoop: true }).outcome.partial,
    null,
    'the decoder reported a loop',
  )
  t.deepEqual(finalTextsOf(stopped.emit(speechState(2.4, [[0, 1.3]], true))), [])
})

test('half a word before repeating text stays open', (t) => {
  const { transcribe, emit, limits, policy } = createAttentionDriver({ max_chars: 8, max_lines: 1 })
  transcribe(speechState(3.5, [[0]]), [askWord, wordOf(' knot', 0.5, 0.8, 0.2), whatWord, wordOf(' y', 3.3, 3.5)])
  transcribe(speechState(3.5, [[0]]), [], { isLoop: true })
  t.deepEqual(finalTextsOf(emit(speechState(3.5, [[0]]))), ['Ask knot'])
  transcribe(speechState(4.6, [[0]]), [wordOf(' you', 3.3, 3.7)])
  t.deepEqual(finalTextsOf(policy.finishNow(limits)), ['what you'])
})
