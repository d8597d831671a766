import test from 'ava'
import assert from 'node:assert/strict'
import type { LiveSignal } from '../../../../application/pipeline/signals.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createScriptedTranslator } from '../../../support/doubles/scripted/translator.ts'
import { AUDIO, kindsOf, startSessions } from '../../../support/worlds/session-world.ts'

const TARGETS = [{ model: 'en-es', from: 'en', to: 'es' }, { model: 'en-fr', from: 'en', to: 'fr' }]

const linesOf = (signals: ReadonlyArray<LiveSignal>, kind: 'transcription' | 'translation') =>
  signals.filter((signal) => signal.kind === kind)

test('a final is followed by one translation for each target, with its segment and times', async (t) => {
  const translator = createScriptedTranslator({ answers: true })
  const { lifecycle, pipelines, attach, listen } = startSessions(t, {}, translator)
  const live = lifecycle.add({ translations: TARGETS })
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({ max_chars: 8 })
  t.deepEqual(translator.loads, ['en-es', 'en-fr'])
  session.audio(AUDIO)
  pipelines.of(live.id).partial(1, 'good mo')
  await pipelines.of(live.id).final(1, 'good morning')
  await eventually(() => assert.equal(linesOf(signals, 'translation').length, 2))
  const [source] = linesOf(signals, 'transcription').slice(-1)
  for (const [index, to] of ['es', 'fr'].entries()) {
    const frame = linesOf(signals, 'translation')[index]
    t.deepEqual(frame, {
      ...source,
      kind: 'translation',
      language: to,
      text: `[${to}:\ngood\nmorning]`,
    } as unknown as LiveSignal)
  }
  t.deepEqual(live.writes, ['start', 'segment 1', 'segment 1 in es', 'segment 1 in fr'])
  t.deepEqual(
    live.segments.map(({ text, kind }) => [kind, text]),
    [
      ['transcription', 'good morning'],
      ['translation', '[es: good morning]'],
      ['translation', '[fr: good morning]'],
    ],
  )
  t.deepEqual(translator.jobs.map(({ text }) => text), ['good morning', 'good morning'], 'partials are not translated')
})

test('a session without translations sends nothing to the translator', async (t) => {
  const translator = createScriptedTranslator({ answers: true })
  const { lifecycle, pipelines, attach, listen } = startSessions(t, {}, translator)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  await pipelines.of(live.id).final(1, 'hello')
  t.deepEqual(kindsOf(signals), ['started', 'transcription'])
  t.deepEqual([translator.jobs, translator.loads], [[], []])
})

test('punctuation false applies to translations too', async (t) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t)
  const live = lifecycle.add({ translations: [{ model: 'en-es', from: 'en', to: 'es' }] })
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({ punctuation: false })
  session.audio(AUDIO)
  await pipelines.of(live.id).final(1, 'well, hello')
  await eventually(() => assert.equal(linesOf(signals, 'translation').length, 1))
  t.like(linesOf(signals, 'translation')[0], { text: '[es well hello]' })
})

test('a slow translator delays no final, and FINISH waits for it', async (t) => {
  const translator = createScriptedTranslator()
  const { lifecycle, pipelines, attach, listen } = startSessions(t, { tail: () => 'last words' }, translator)
  const live = lifecycle.add({ translations: [{ model: 'en-es', from: 'en', to: 'es' }] })
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  await pipelines.of(live.id).final(1, 'one')
  await pipelines.of(live.id).final(2, 'two')
  t.is(linesOf(signals, 'transcription').length, 2)
  session.finish()
  await eventually(() => assert.equal(linesOf(signals, 'transcription').length, 3))
  for (const text of ['one', 'two', 'last words']) {
    t.is(live.status, 'active')
    await eventually(() => assert.deepEqual(translator.open().map((job) => job.text), [text]))
    translator.answer()
  }
  await eventually(() => assert.equal(live.status, 'finished'))
  t.deepEqual(live.writes.slice(-3), ['segment 2 in es', 'segment 3 in es', 'end'])
  await eventually(() => assert.equal(kindsOf(signals).at(-1), 'ended'))
  t.deepEqual(linesOf(signals, 'translation').map((signal) => 'segment' in signal && signal.segment), [1, 2, 3])
})

test('a session whose translator never answers loses only its translations', async (t) => {
  const translator = createScriptedTranslator()
  const { lifecycle, pipelines, attach, listen, timers, translations } = startSessions(
    t,
    { tail: () => null },
    translator,
  )
  const live = lifecycle.add({ translations: TARGETS })
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  await pipelines.of(live.id).final(1, 'one')
  session.finish()
  await eventually(() => {
    timers.advance(1000)
    assert.equal(live.status, 'finished')
  })
  t.deepEqual(linesOf(signals, 'transcription').map((signal) => 'text' in signal && signal.text), ['one'])
  t.deepEqual(linesOf(signals, 'translation'), [])
  t.like(translations.figures(), { dropped: 2, waiting: 0 })
})

test('a failing translator leaves the session unchanged', async (t) => {
  const translator = createScriptedTranslator()
  const { lifecycle, pipelines, attach, listen } = startSessions(t, { tail: () => null }, translator)
  const live = lifecycle.add({ translations: TARGETS })
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  await pipelines.of(live.id).final(1, 'one')
  translator.answer('es', { _tag: 'ModelLoadFailed', model: 'en-es', reason: 'damaged' })
  translator.answer('fr')
  await eventually(() => assert.equal(linesOf(signals, 'translation').length, 1))
  session.finish()
  await eventually(() => assert.equal(live.status, 'finished'))
  t.deepEqual(live.writes, ['start', 'segment 1', 'segment 1 in fr', 'end'])
})
