import test from 'ava'
import {
  createAttentionDriver, finalTextsOf, samplesOf, speechState, tokensOf, heardWord,
} from '../../support/pipeline/attention-driver.ts'

const [ask, not, what] = [heardWord(' Ask', 0.1, 0.4), heardWord(' not', 0.5, 0.8), heardWord(' what', 0.9, 1.2)]

test('a draft continues from the fixed words; words at the end of running speech stay open', (t) => {
  const { hears } = createAttentionDriver()
  const { pass, outcome } = hears(speechState(1.3, [[0]]), [ask, not, what])
  t.deepEqual(pass, {
    from: 0,
    to: samplesOf(1.3),
    isSpeaking: true,
    isDraft: true,
    beginning: { context: [], prefix: [] },
  })
  t.is(outcome.partial?.text, 'Ask not', 'what sounds at the very end is not shown')
  const second = hears(speechState(2.4, [[0]]), [heardWord(' whatever', 0.9, 1.6), heardWord(' you', 2, 2.2)])
  t.deepEqual(second.pass.beginning?.prefix, tokensOf(ask, not), 'the last word may be half a word')
  t.is(second.outcome.partial?.text, 'Ask not whatever you')
})

test('a draft waits for the interval of new audio', (t) => {
  const { hears, next } = createAttentionDriver({ min_buffer: 1 })
  t.is(next(speechState(0.9, [[0]])).kind, 'wait')
  hears(speechState(1.1, [[0]]), [ask])
  t.is(next(speechState(2, [[0]])).kind, 'wait')
  t.is(next(speechState(2.1, [[0]])).kind, 'pass')
  t.is(next(speechState(2.1, [[0, 1.8], [2]])).kind, 'pass', 'not where the speech before is over')
})

test('a pause fixes all words, but not the punctuation after the last word', (t) => {
  const { hears } = createAttentionDriver()
  const end = heardWord(' what.', 0.9, 1.2)
  t.is(hears(speechState(1.5, [[0, 1.3]]), [ask, not, end]).outcome.partial?.text, 'Ask not what')
  const { pass, outcome } = hears(speechState(3, [[0, 1.3], [1.7]]), [heardWord(' you', 1.9, 2.2)])
  t.deepEqual(pass.beginning?.prefix, [...tokensOf(ask, not), end.tokens[0]])
  t.is(outcome.partial?.text, 'Ask not what you')
})

test('doubted words of a draft are transcribed again with the following audio, also after a pause', (t) => {
  const { hears } = createAttentionDriver({ buffer_timeout: 5 })
  hears(speechState(1.5, [[0, 1.3]]), [ask], { isLoop: true })
  t.is(hears(speechState(7, [[0, 1.3], [5.7]]), []).pass.from, 0)
})

test('late punctuation joins the word before it', (t) => {
  const { hears } = createAttentionDriver()
  hears(speechState(1.5, [[0, 1.3]]), [ask, not, what])
  const comma = heardWord(',', 1.2, 1.2)
  t.is(
    hears(speechState(3, [[0, 1.3], [1.7]]), [comma, heardWord(' you', 1.9, 2.2)]).outcome.partial?.text,
    'Ask not what, you',
  )
  t.deepEqual(
    hears(speechState(4.1, [[0, 1.3], [1.7]]), []).pass.beginning?.prefix.slice(0, 4),
    tokensOf(ask, not, what, comma),
  )
})

test('the second half of a split word joins the first half', (t) => {
  const { hears } = createAttentionDriver()
  hears(speechState(1.5, [[0, 1.3]]), [ask, not, what])
  t.is(hears(speechState(3, [[0, 1.3], [1.7]]), [heardWord('ever', 1.7, 2)]).outcome.partial?.text, 'Ask not whatever')
})

test('a final word never changes; text that would end it is neither shown nor repeated', (t) => {
  const { hears, says } = createAttentionDriver({ mode: 'partial', max_chars: 8, max_lines: 1 })
  hears(speechState(2, [[0]]), [ask, not, what])
  t.deepEqual(finalTextsOf(says(speechState(2, [[0]]))), ['Ask not'])
  const later = hears(speechState(3.1, [[0]]), [heardWord(' you', 2.2, 2.9)])
  t.is(later.outcome.partial?.text, 'what you')
  t.deepEqual(later.pass.beginning?.prefix, tokensOf(ask, not, what))

  const bench = createAttentionDriver({ mode: 'final', max_delay: 2 })
  bench.hears(speechState(1.8, [[0]]), [ask, not, what])
  t.deepEqual(finalTextsOf(bench.says(speechState(2.3, [[0]]))), ['Ask not what'])
  bench.hears(speechState(2.6, [[0]]), [heardWord('?', 1.2, 2.2), heardWord(' you', 2.3, 2.4)])
  t.deepEqual(finalTextsOf(bench.policy.finishNow(bench.limits)), ['you'])

  const open = createAttentionDriver({ max_buffer: 1, max_delay: 1 })
  open.hears(speechState(2.8, [[0]]), [ask, not, what])
  t.deepEqual(finalTextsOf(open.says(speechState(2.8, [[0]]))), ['Ask not what'])
  const shown = open.hears(speechState(3.7, [[0]]), [heardWord('?', 1.2, 3.4), heardWord(' you', 3.4, 3.5)])
  t.is(shown.outcome.partial?.text, 'you')
})

test('a phrase with sure drafts ends by a full window, in the middle of its pause', (t) => {
  const { hears, next, says } = createAttentionDriver({ buffer_timeout: 1 })
  hears(speechState(1.5, [[0, 1.3]]), [ask, not, what])
  t.is(next(speechState(1.75, [[0, 1.3]])).kind, 'wait')
  const { pass, outcome } = hears(speechState(1.85, [[0, 1.3]]), [heardWord('.', 1.2, 1.2)])
  t.deepEqual(pass, {
    from: 0,
    to: samplesOf(1.3),
    isSpeaking: false,
    isDraft: false,
    beginning: { context: [], prefix: tokensOf(ask, not, what) },
  })
  t.is(outcome.partial?.text, 'Ask not what.')
  t.is(next(speechState(2.2, [[0, 1.3]])).kind, 'wait')
  t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), ['Ask not what.'])
})

test('unsure words of drafts are transcribed again after the finals before they become final', (t) => {
  const { hears, says } = createAttentionDriver()
  hears(speechState(1.5, [[0, 1.3]]), [ask, heardWord(' knot', 0.5, 0.8, 0.2), what])
  const { pass, outcome } = hears(speechState(2.4, [[0, 1.3]], true), [ask, not, what])
  t.deepEqual(pass.beginning?.prefix, [])
  t.is(outcome.partial?.text, 'Ask not what')
  t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), ['Ask not what'])

  const running = createAttentionDriver({ max_chars: 8, max_lines: 1 })
  running.hears(speechState(3, [[0]]), [ask, heardWord(' knot', 0.5, 0.8, 0.2), what])
  t.is(running.hears(speechState(3, [[0]]), [ask, not, what]).pass.isDraft, false)
  t.deepEqual(finalTextsOf(running.says(speechState(3, [[0]]))), ['Ask not'])
})

test('a doubted word waits for the following audio; an unlikely word is hidden meanwhile', (t) => {
  const { hears } = createAttentionDriver()
  const doubted = heardWord(' knot', 0.5, 0.8, 0.45)
  t.is(
    hears(speechState(2.2, [[0]]), [ask, doubted, heardWord(' why', 1, 1.3, 0.3), heardWord(' you', 1.4, 1.7)]).outcome
      .partial?.text,
    'Ask knot',
  )
  const second = hears(speechState(3.3, [[0]]), [not, what, heardWord(' you', 1.5, 1.8)])
  t.deepEqual(second.pass.beginning?.prefix, tokensOf(ask))
  t.is(second.outcome.partial?.text, 'Ask not what you')
})

test('a full window that ends much earlier than the drafts is ignored', (t) => {
  const { hears, says } = createAttentionDriver()
  hears(speechState(3, [[0, 2.8]]), [ask, heardWord(' knot', 0.5, 0.8, 0.2), heardWord(' what', 2.1, 2.6)])
  hears(speechState(4, [[0, 2.8]], true), [ask])
  t.deepEqual(finalTextsOf(says(speechState(4, [[0, 2.8]], true))), ['Ask knot what'])
})

test('a pause ends a sentence only when the model is sure of it', (t) => {
  for (const [probability, text] of [[0.4, 'Ask not what'], [0.6, 'Ask not what.']] as const) {
    const { hears, says } = createAttentionDriver()
    hears(speechState(1.5, [[0, 1.3]]), [ask, not, what])
    hears(speechState(2.4, [[0, 1.3]], true), [heardWord('.', 1.2, 1.2, probability)])
    t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), [text])
  }
})

test('a full window that finds silence clears the segment on the screen, and nothing becomes final', (t) => {
  const { hears, says } = createAttentionDriver()
  t.is(
    hears(speechState(1.5, [[0, 1.3]]), [heardWord(' Thank', 0.2, 0.5, 0.95), heardWord(' you.', 0.6, 0.9, 0.4)])
      .outcome.partial?.text,
    'Thank you',
  )
  const { outcome } = hears(speechState(2.4, [[0, 1.3]], true), [])
  t.is(outcome.partial?.text, '')
  t.is(outcome.partial?.segment, 1)
  t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), [])
  t.is(
    hears(speechState(9, [[7, 8]]), [heardWord(' Ask', 7.1, 7.6)]).outcome.partial?.segment,
    1,
    'the number goes to what is said next',
  )
})

const DOUBTFUL = { avgLogprob: -1.1 }

test('speech with bad scores keeps the text of the drafts, else that of the full window', (t) => {
  const doubted = createAttentionDriver()
  doubted.hears(speechState(1.5, [[0, 1.3]]), [ask, not])
  t.is(doubted.hears(speechState(2.4, [[0, 1.3]], true), [heardWord(' Ah', 0.9, 1.2)], DOUBTFUL).outcome.partial, null)
  t.deepEqual(finalTextsOf(doubted.says(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])

  const { hears, says } = createAttentionDriver()
  t.is(hears(speechState(1.5, [[0, 1.3]]), [ask, not], DOUBTFUL).outcome.partial, null, 'a doubtful draft is not shown')
  t.is(hears(speechState(2.4, [[0, 1.3]], true), [ask, not], DOUBTFUL).outcome.partial?.text, 'Ask not')
  t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])
})

test('speech that no draft could use gets one full window before its audio is dropped', (t) => {
  const { hears, says, limits } = createAttentionDriver({ max_buffer: 4, min_buffer: 3 })
  for (const clock of [3, 6, 9]) hears(speechState(clock, [[0]]), [ask, not], DOUBTFUL)
  const long = heardWord(' gibberish', 1, 7)
  const { pass } = hears(speechState(9, [[0]]), [ask, long], DOUBTFUL)
  t.deepEqual([pass.isDraft, pass.to], [false, limits.buffer.longestWithContext])
  t.deepEqual(finalTextsOf(says(speechState(9, [[0]]))), ['Ask gibberish'])

  const silent = createAttentionDriver({ max_buffer: 4, min_buffer: 3 })
  for (const clock of [3, 6, 9]) silent.hears(speechState(clock, [[0]]), [])
  t.deepEqual(finalTextsOf(silent.says(speechState(9, [[0]]))), [])
  const step = silent.next(speechState(12, [[0]]))
  t.is(step.kind === 'pass' && step.pass.from, samplesOf(6), 'the oldest audio is given up')
})

test('a loop is neither shown nor final, and clears the context', (t) => {
  const { hears, says } = createAttentionDriver()
  hears(speechState(1.5, [[0, 1.3]]), [ask, not])
  const loop = Array.from({ length: 8 }, (_, i) => heardWord(' no', 0.8 + i / 20, 0.85 + i / 20))
  t.is(hears(speechState(1.9, [[0, 1.3]]), loop).outcome.partial, null, 'its text is one')
  t.deepEqual(finalTextsOf(says(speechState(2.4, [[0, 1.3]], true))), ['Ask not'])
  const stopped = createAttentionDriver()
  t.is(stopped.hears(speechState(1.5, [[0, 1.3]]), [ask], { isLoop: true }).outcome.partial, null)
  t.is(
    stopped.hears(speechState(2.4, [[0, 1.3]], true), [ask], { isLoop: true }).outcome.partial,
    null,
    'the decoder was stopped',
  )
  t.deepEqual(finalTextsOf(stopped.says(speechState(2.4, [[0, 1.3]], true))), [])
})

test('half a word before a loop stays open', (t) => {
  const { hears, says, limits, policy } = createAttentionDriver({ max_chars: 8, max_lines: 1 })
  hears(speechState(3.5, [[0]]), [ask, heardWord(' knot', 0.5, 0.8, 0.2), what, heardWord(' y', 3.3, 3.5)])
  hears(speechState(3.5, [[0]]), [], { isLoop: true })
  t.deepEqual(finalTextsOf(says(speechState(3.5, [[0]]))), ['Ask knot'])
  hears(speechState(4.6, [[0]]), [heardWord(' you', 3.3, 3.7)])
  t.deepEqual(finalTextsOf(policy.finishNow(limits)), ['what you'])
})

test('a pause over three seconds empties the buffer and turns its words into context', (t) => {
  const { hears, says, policy } = createAttentionDriver()
  hears(speechState(2.4, [[0, 1.3]], true), [ask, not, what])
  says(speechState(2.4, [[0, 1.3]], true))
  t.is(policy.progress({ ...speechState(4, []), phrases: [] }).neededFrom, 0)
  const soon = hears(speechState(5, [[4]]), [heardWord(' you', 4.1, 4.4)])
  t.deepEqual([soon.pass.from, soon.pass.beginning?.prefix], [0, tokensOf(ask, not, what)])
  hears(speechState(6.5, [[4, 5.2]], true), [])
  says(speechState(6.5, [[4, 5.2]], true))
  const silence = { ...speechState(20, []), phrases: [] }
  t.is(policy.progress(silence).neededFrom, silence.clock, 'no audio is kept')
  const { pass } = hears(speechState(22, [[21]]), [heardWord(' can', 21.1, 21.4)])
  t.is(pass.from, samplesOf(21) - samplesOf(0.15))
  t.deepEqual(pass.beginning?.prefix, [])
  t.deepEqual(pass.beginning?.context.slice(0, 3), tokensOf(ask, not, what))
})

test('a full buffer is cut after a sentence, else a clause, else a word; no word is lost or repeated', (t) => {
  for (const [texts, count] of [
    [[' One.', ' two,', ' three', ' four', ' five', ' six'], 1],
    [[' One,', ' two', ' three', ' four', ' five', ' six'], 1],
    [[' One', ' two', ' three', ' four', ' five', ' six'], 2],
  ] as const) {
    const { hears, says, next, limits, policy } = createAttentionDriver({
      max_buffer: 3,
      min_buffer: 1,
      max_chars: 200,
    })
    const words = texts.map((text, i) => heardWord(text, 4 + i / 2, 4.4 + i / 2))
    hears(speechState(8, [[0]]), words)
    const finals = finalTextsOf(says(speechState(8, [[0]])))
    t.deepEqual(finalTextsOf(says(speechState(8, [[0]]))), [], 'what is cut off is final already')
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
  const { hears, next, says } = createAttentionDriver()
  const [first] = speechState(8, [[0, 1.3]], true).phrases
  const [second] = speechState(8, [[3, 4.3]], true).phrases
  const [third] = speechState(8, [[6, 8]], true).phrases
  const [far] = speechState(40, [[30, 31]], true).phrases
  if (first === undefined || second === undefined || third === undefined || far === undefined)
    throw new Error('no phrases')
  const behind = { ...speechState(40, [], true), phrases: [first, second, third, far] }
  const { pass } = hears(behind, [ask, not, heardWord(' what', 3.1, 3.5), heardWord(' you', 6.2, 6.6)])
  t.deepEqual([pass.to, pass.isDraft], [samplesOf(8), false], 'as many as fit')
  t.deepEqual(finalTextsOf(says(behind)), ['Ask not'])
  t.deepEqual(finalTextsOf(says({ ...behind, phrases: [second, third, far] })), ['what'])
  t.deepEqual(finalTextsOf(says({ ...behind, phrases: [third, far] })), ['you'])
  const step = next({ ...behind, phrases: [far] })
  t.is(step.kind === 'pass' && step.pass.from, samplesOf(30) - samplesOf(0.15))
})

test('without punctuation none is shown, and the model still continues from its own punctuation', (t) => {
  const { hears } = createAttentionDriver({ punctuation: false })
  const end = heardWord(' what?', 0.9, 1.2)
  t.is(
    hears(speechState(2, [[0]]), [ask, heardWord(' not,', 0.5, 0.8), end, heardWord(' you', 1.5, 1.8)]).outcome.partial
      ?.text,
    'Ask not what you',
  )
  t.deepEqual(hears(speechState(3.1, [[0]]), []).pass.beginning?.prefix.at(-1), end.tokens[1])
})
