import test from 'ava'
import {
  createAttentionDriver, finalTextsOf, samplesOf, speechState, tokensOf, wordOf,
} from '../../../../../support/pipeline/attention-driver.ts'

const [askWord, notWord, whatWord] = [wordOf(' Ask', 0.1, 0.4), wordOf(' not', 0.5, 0.8), wordOf(' what', 0.9, 1.2)]

test('a draft continues from the fixed words; words at the end of running speech stay open', (t) => {
  const { transcribe } = createAttentionDriver()
  const { pass, outcome } = transcribe(speechState(1.3, [[0]]), [askWord, notWord, whatWord])
  t.deepEqual(pass, {
    from: 0,
    to: samplesOf(1.3),
    isSpeaking: true,
    isDraft: true,
    beginning: { context: [], prefix: [] },
  })
  t.is(outcome.partial?.text, 'Ask not', 'a word at the very end of the audio is not shown')
  const second = transcribe(speechState(2.4, [[0]]), [wordOf(' whatever', 0.9, 1.6), wordOf(' you', 2, 2.2)])
  t.deepEqual(second.pass.beginning?.prefix, tokensOf(askWord, notWord), 'the last word may be incomplete')
  t.is(second.outcome.partial?.text, 'Ask not whatever you')
})

test('a draft waits until min_buffer of new audio has arrived', (t) => {
  const { transcribe, next } = createAttentionDriver({ min_buffer: 1 })
  t.is(next(speechState(0.9, [[0]])).kind, 'wait')
  transcribe(speechState(1.1, [[0]]), [askWord])
  t.is(next(speechState(2, [[0]])).kind, 'wait')
  t.is(next(speechState(2.1, [[0]])).kind, 'pass')
  t.is(next(speechState(2.1, [[0, 1.8], [2]])).kind, 'pass', 'earlier speech that has ended needs no interval')
})

test('a pause fixes all words, but not the punctuation after the last word', (t) => {
  const { transcribe } = createAttentionDriver()
  const end = wordOf(' what.', 0.9, 1.2)
  t.is(transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord, end]).outcome.partial?.text, 'Ask not what')
  const { pass, outcome } = transcribe(speechState(3, [[0, 1.3], [1.7]]), [wordOf(' you', 1.9, 2.2)])
  t.deepEqual(pass.beginning?.prefix, [...tokensOf(askWord, notWord), end.tokens[0]])
  t.is(outcome.partial?.text, 'Ask not what you')
})

test('doubted words of a draft are transcribed again with the following audio, also after a pause', (t) => {
  const { transcribe } = createAttentionDriver({ buffer_timeout: 5 })
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord], { isLoop: true })
  t.is(transcribe(speechState(7, [[0, 1.3], [5.7]]), []).pass.from, 0)
})

test('late punctuation joins the word before it', (t) => {
  const { transcribe } = createAttentionDriver()
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord, whatWord])
  const comma = wordOf(',', 1.2, 1.2)
  t.is(
    transcribe(speechState(3, [[0, 1.3], [1.7]]), [comma, wordOf(' you', 1.9, 2.2)]).outcome.partial?.text,
    'Ask not what, you',
  )
  t.deepEqual(
    transcribe(speechState(4.1, [[0, 1.3], [1.7]]), []).pass.beginning?.prefix.slice(0, 4),
    tokensOf(askWord, notWord, whatWord, comma),
  )
})

test('the second half of a split word joins the first half', (t) => {
  const { transcribe } = createAttentionDriver()
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord, whatWord])
  const joined = transcribe(speechState(3, [[0, 1.3], [1.7]]), [wordOf('ever', 1.7, 2)])
  t.is(joined.outcome.partial?.text, 'Ask not whatever')
})

test('a final word never changes; a later ending of this word is not shown and not transcribed again', (t) => {
  const { transcribe, emit } = createAttentionDriver({ mode: 'partial', max_chars: 8, max_lines: 1 })
  transcribe(speechState(2, [[0]]), [askWord, notWord, whatWord])
  t.deepEqual(finalTextsOf(emit(speechState(2, [[0]]))), ['Ask not'])
  const later = transcribe(speechState(3.1, [[0]]), [wordOf(' you', 2.2, 2.9)])
  t.is(later.outcome.partial?.text, 'what you')
  t.deepEqual(later.pass.beginning?.prefix, tokensOf(askWord, notWord, whatWord))

  const finalMode = createAttentionDriver({ mode: 'final', max_delay: 2 })
  finalMode.transcribe(speechState(1.8, [[0]]), [askWord, notWord, whatWord])
  t.deepEqual(finalTextsOf(finalMode.emit(speechState(2.3, [[0]]))), ['Ask not what'])
  finalMode.transcribe(speechState(2.6, [[0]]), [wordOf('?', 1.2, 2.2), wordOf(' you', 2.3, 2.4)])
  t.deepEqual(finalTextsOf(finalMode.policy.finishNow(finalMode.limits)), ['you'])

  const shortBuffer = createAttentionDriver({ max_buffer: 1, max_delay: 1 })
  shortBuffer.transcribe(speechState(2.8, [[0]]), [askWord, notWord, whatWord])
  t.deepEqual(finalTextsOf(shortBuffer.emit(speechState(2.8, [[0]]))), ['Ask not what'])
  const shown = shortBuffer.transcribe(speechState(3.7, [[0]]), [wordOf('?', 1.2, 3.4), wordOf(' you', 3.4, 3.5)])
  t.is(shown.outcome.partial?.text, 'you')
})

test('a phrase with sure drafts ends with a full pass, in the middle of its pause', (t) => {
  const { transcribe, next, emit } = createAttentionDriver({ buffer_timeout: 1 })
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord, whatWord])
  t.is(next(speechState(1.75, [[0, 1.3]])).kind, 'wait')
  const { pass, outcome } = transcribe(speechState(1.85, [[0, 1.3]]), [wordOf('.', 1.2, 1.2)])
  t.deepEqual(pass, {
    from: 0,
    to: samplesOf(1.3),
    isSpeaking: false,
    isDraft: false,
    beginning: { context: [], prefix: tokensOf(askWord, notWord, whatWord) },
  })
  t.is(outcome.partial?.text, 'Ask not what.')
  t.is(next(speechState(2.2, [[0, 1.3]])).kind, 'wait')
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not what.'])
})

test('unsure words of drafts are transcribed again after the finals before they become final', (t) => {
  const { transcribe, emit } = createAttentionDriver()
  transcribe(speechState(1.5, [[0, 1.3]]), [askWord, wordOf(' knot', 0.5, 0.8, 0.2), whatWord])
  const { pass, outcome } = transcribe(speechState(2.4, [[0, 1.3]], true), [askWord, notWord, whatWord])
  t.deepEqual(pass.beginning?.prefix, [])
  t.is(outcome.partial?.text, 'Ask not what')
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), ['Ask not what'])

  const running = createAttentionDriver({ max_chars: 8, max_lines: 1 })
  running.transcribe(speechState(3, [[0]]), [askWord, wordOf(' knot', 0.5, 0.8, 0.2), whatWord])
  t.is(running.transcribe(speechState(3, [[0]]), [askWord, notWord, whatWord]).pass.isDraft, false)
  t.deepEqual(finalTextsOf(running.emit(speechState(3, [[0]]))), ['Ask not'])
})

test('a doubted word waits for the following audio; an unlikely word is hidden meanwhile', (t) => {
  const { transcribe } = createAttentionDriver()
  const doubted = wordOf(' knot', 0.5, 0.8, 0.45)
  t.is(
    transcribe(speechState(2.2, [[0]]), [askWord, doubted, wordOf(' why', 1, 1.3, 0.3), wordOf(' you', 1.4, 1.7)])
      .outcome.partial?.text,
    'Ask knot',
  )
  const second = transcribe(speechState(3.3, [[0]]), [notWord, whatWord, wordOf(' you', 1.5, 1.8)])
  t.deepEqual(second.pass.beginning?.prefix, tokensOf(askWord))
  t.is(second.outcome.partial?.text, 'Ask not what you')
})

test('a full pass that ends much earlier than the drafts is ignored', (t) => {
  const { transcribe, emit } = createAttentionDriver()
  transcribe(speechState(3, [[0, 2.8]]), [askWord, wordOf(' knot', 0.5, 0.8, 0.2), wordOf(' what', 2.1, 2.6)])
  transcribe(speechState(4, [[0, 2.8]], true), [askWord])
  t.deepEqual(finalTextsOf(emit(speechState(4, [[0, 2.8]], true))), ['Ask knot what'])
})

test('a pause ends a sentence only when the model is sure of it', (t) => {
  for (const [probability, text] of [[0.4, 'Ask not what'], [0.6, 'Ask not what.']] as const) {
    const { transcribe, emit } = createAttentionDriver()
    transcribe(speechState(1.5, [[0, 1.3]]), [askWord, notWord, whatWord])
    transcribe(speechState(2.4, [[0, 1.3]], true), [wordOf('.', 1.2, 1.2, probability)])
    t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), [text])
  }
})

test('a full pass that finds silence clears the segment on the screen, and nothing becomes final', (t) => {
  const { transcribe, emit } = createAttentionDriver()
  t.is(
    transcribe(speechState(1.5, [[0, 1.3]]), [wordOf(' Thank', 0.2, 0.5, 0.95), wordOf(' you.', 0.6, 0.9, 0.4)])
      .outcome.partial?.text,
    'Thank you',
  )
  const { outcome } = transcribe(speechState(2.4, [[0, 1.3]], true), [])
  t.is(outcome.partial?.text, '')
  t.is(outcome.partial?.segment, 1)
  t.deepEqual(finalTextsOf(emit(speechState(2.4, [[0, 1.3]], true))), [])
  t.is(
    transcribe(speechState(9, [[7, 8]]), [wordOf(' Ask', 7.1, 7.6)]).outcome.partial?.segment,
    1,
    'the next speech gets the number of the cleared segment',
  )
})

test('a pause over three seconds empties the buffer and turns its words into context', (t) => {
  const { transcribe, emit, policy } = createAttentionDriver()
  transcribe(speechState(2.4, [[0, 1.3]], true), [askWord, notWord, whatWord])
  emit(speechState(2.4, [[0, 1.3]], true))
  t.is(policy.progress({ ...speechState(4, []), phrases: [] }).neededFrom, 0)
  const afterShortPause = transcribe(speechState(5, [[4]]), [wordOf(' you', 4.1, 4.4)])
  const { from, beginning } = afterShortPause.pass
  t.deepEqual([from, beginning?.prefix], [0, tokensOf(askWord, notWord, whatWord)])
  transcribe(speechState(6.5, [[4, 5.2]], true), [])
  emit(speechState(6.5, [[4, 5.2]], true))
  const silence = { ...speechState(20, []), phrases: [] }
  t.is(policy.progress(silence).neededFrom, silence.clock, 'no audio is kept')
  const { pass } = transcribe(speechState(22, [[21]]), [wordOf(' can', 21.1, 21.4)])
  t.is(pass.from, samplesOf(21) - samplesOf(0.15))
  t.deepEqual(pass.beginning?.prefix, [])
  t.deepEqual(pass.beginning?.context.slice(0, 3), tokensOf(askWord, notWord, whatWord))
})

test('a full buffer is cut after a sentence, else a clause, else a word; no word is lost or repeated', (t) => {
  for (const [texts, count] of [
    [[' One.', ' two,', ' three', ' four', ' five', ' six'], 1],
    [[' One,', ' two', ' three', ' four', ' five', ' six'], 1],
    [[' One', ' two', ' three', ' four', ' five', ' six'], 2],
  ] as const) {
    const { transcribe, emit, next, limits, policy } = createAttentionDriver({
      max_buffer: 3,
      min_buffer: 1,
      max_chars: 200,
    })
    const words = texts.map((text, i) => wordOf(text, 4 + i / 2, 4.4 + i / 2))
    transcribe(speechState(8, [[0]]), words)
    const finals = finalTextsOf(emit(speechState(8, [[0]])))
    t.deepEqual(finalTextsOf(emit(speechState(8, [[0]]))), [], 'the words before the cut are already final')
    const step = next(speechState(9.1, [[0]]))
    if (step.kind !== 'pass') throw new Error(step.kind)
    const last = words[count - 1]
    t.true(
      step.pass.from >= samplesOf(last?.end ?? 0) && step.pass.from < samplesOf((words[count]?.start ?? 0) + 0.001),
      texts.join(''),
    )
    t.deepEqual(step.pass.beginning?.context, tokensOf(...words.slice(0, count)))
    t.is([...finals, ...finalTextsOf(policy.finishNow(limits))].join(' '), texts.join('').trim())
  }
})

test('several ended phrases are transcribed in one pass, and each becomes its own segment', (t) => {
  const { transcribe, next, emit } = createAttentionDriver()
  const [first] = speechState(8, [[0, 1.3]], true).phrases
  const [second] = speechState(8, [[3, 4.3]], true).phrases
  const [third] = speechState(8, [[6, 8]], true).phrases
  const [laterPhrase] = speechState(40, [[30, 31]], true).phrases
  if (first === undefined || second === undefined || third === undefined || laterPhrase === undefined)
    throw new Error('no phrases')
  const backlog = { ...speechState(40, [], true), phrases: [first, second, third, laterPhrase] }
  const { pass } = transcribe(backlog, [askWord, notWord, wordOf(' what', 3.1, 3.5), wordOf(' you', 6.2, 6.6)])
  t.deepEqual([pass.to, pass.isDraft], [samplesOf(8), false], 'the pass contains as many phrases as fit')
  t.deepEqual(finalTextsOf(emit(backlog)), ['Ask not'])
  t.deepEqual(finalTextsOf(emit({ ...backlog, phrases: [second, third, laterPhrase] })), ['what'])
  t.deepEqual(finalTextsOf(emit({ ...backlog, phrases: [third, laterPhrase] })), ['you'])
  const step = next({ ...backlog, phrases: [laterPhrase] })
  t.is(step.kind === 'pass' && step.pass.from, samplesOf(30) - samplesOf(0.15))
})

test('with punctuation off no mark is shown, but the model continues from its own punctuation', (t) => {
  const { transcribe } = createAttentionDriver({ punctuation: false })
  const end = wordOf(' what?', 0.9, 1.2)
  t.is(
    transcribe(speechState(2, [[0]]), [askWord, wordOf(' not,', 0.5, 0.8), end, wordOf(' you', 1.5, 1.8)]).outcome
      .partial?.text,
    'Ask not what you',
  )
  t.deepEqual(transcribe(speechState(3.1, [[0]]), []).pass.beginning?.prefix.at(-1), end.tokens[1])
})
