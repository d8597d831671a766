import assert from 'node:assert/strict'
import test from 'ava'
import type { TranscriptFrame } from '../../../../domain/transcript/frame.ts'
import type { AttachedLive } from '../../../../application/lives/attached-live.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../domain/live/settings.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { createScriptedTranslator } from '../../../support/doubles/scripted/translator.ts'
import { AUDIO, startSessions } from '../../../support/worlds/session-world.ts'

const TO_SPANISH = [{ model: 'en-es', from: 'en', to: 'es' }, { model: 'fr-es', from: 'fr', to: 'es' }]
const TRANSLATE = { ...DEFAULT_ENGINE_SETTINGS, task: 'translate' } as const

/** Starts a session with these facts, configures it and sends its first audio. */
const start = async (t: Parameters<typeof startSessions>[0], facts: Partial<AttachedLive>) => {
  const translator = createScriptedTranslator({ answers: true })
  const { lifecycle, pipelines, attach, listen } = startSessions(t, {}, translator)
  const live = lifecycle.add(facts)
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  const frames = (): ReadonlyArray<TranscriptFrame> =>
    signals.filter((signal): signal is TranscriptFrame => 'segment' in signal)
  const languages = () => frames().map(({ kind, segment, language }) => `${kind} ${segment} ${language}`)
  return { live, session, pipeline: pipelines.of(live.id), translator, languages }
}

test('segments have the detected language, or und while no language is known, in the log too', async (t) => {
  const { live, pipeline, languages } = await start(t, { language: 'auto' })
  t.is(pipeline.language, 'auto')
  pipeline.partial(1, 'bon')
  await pipeline.final(1, 'Bonjour.', { language: 'fr' })
  await pipeline.final(2, 'Mm.')
  t.deepEqual(languages(), ['transcription 1 und', 'transcription 1 fr', 'transcription 2 und'])
  t.deepEqual(live.segments.map(({ language }) => language), ['fr', 'und'])
})

test('a session with a given language always reports this language', async (t) => {
  const { pipeline, languages } = await start(t, { language: 'yue' })
  await pipeline.final(1, '你好')
  t.deepEqual([pipeline.language, ...languages()], ['yue', 'transcription 1 yue'])
})

test('each final uses the pair of its language; a final without a pair is not translated', async (t) => {
  const { live, pipeline, translator, languages } = await start(t, { language: 'auto', translations: TO_SPANISH })
  t.deepEqual(translator.loads, [], 'the needed translator is not known yet')
  for (const [index, language] of ['fr', 'es', 'de', 'en'].entries()) await pipeline.final(index + 1, 'x', { language })
  await pipeline.final(5, 'x')
  await eventually(() => assert.equal(live.segments.length, 7))
  t.deepEqual(
    translator.jobs.map(({ model, from, to }) => [model, from, to]),
    [['fr-es', 'fr', 'es'], ['en-es', 'en', 'es']],
  )
  t.deepEqual(languages().filter((line) => line.startsWith('translation')), ['translation 1 es', 'translation 4 es'])
})

test('text translated during recognition is English, and further translations start from it', async (t) => {
  const translations = [{ model: 'en-es', from: 'en', to: 'es' }]
  for (const language of ['fr', 'auto']) {
    const { pipeline, translator, languages } = await start(t, { language, config: TRANSLATE, translations })
    t.deepEqual([pipeline.language, pipeline.task], [language, 'translate'])
    await pipeline.final(1, 'Hello.', language === 'auto' ? { language: 'fr' } : {})
    await eventually(() => assert.deepEqual(languages(), ['transcription 1 en', 'translation 1 es']))
    t.deepEqual(translator.jobs.map(({ from }) => from), ['en'])
  }
})

test('the task belongs to the session: a config frame cannot change it', async (t) => {
  const { lifecycle, attach, pipelines } = startSessions(t)
  const plain = await attach(lifecycle.add().id)
  t.is(plain.configure({ task: 'translate' }), 'invalid')
  t.is(plain.configure({ task: 'transcribe' }), 'ok')
  const translating = lifecycle.add({ config: TRANSLATE })
  const session = await attach(translating.id)
  t.is(session.configure({ task: 'transcribe' }), 'invalid')
  t.is(session.configure({ task: 'translate' }), 'ok')
  t.is(pipelines.of(translating.id).task, 'translate')
})
