import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, kindsOf, startSessions } from '../../../support/worlds/session-world.ts'

test('every accepted config is followed by one started signal, once the model is ready', async (t) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t, { loads: false })
  const { id } = lifecycle.add()
  const session = await attach(id)
  const signals = listen(id)
  t.is(session.configure({ max_chars: 40 }), 'ok')
  t.is(session.configure({ max_lines: 1 }), 'ok')
  t.deepEqual(kindsOf(signals), [])
  pipelines.of(id).load()
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started', 'started']))
  t.is(session.configure({}), 'ok')
  t.is(signals.length, 2, 'started follows the answer of configure')
  await eventually(() => assert.equal(signals.length, 3))
  t.is(pipelines.all.length, 1)
})

test('a config overlays the settings of the session, not those of an earlier config', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const { id } = lifecycle.add()
  const session = await attach(id)
  t.is(session.configure({ min_buffer: 11 }), 'invalid', 'above the max_buffer of the session')
  t.is(session.audio(AUDIO), 'config_required', 'an invalid config does not count')
  t.is(session.configure({ min_buffer: 11, max_buffer: 12, max_chars: 40 }), 'ok')
  t.is(session.configure({ max_lines: 7 }), 'ok')
  const { min_buffer, max_buffer, max_chars, max_lines } = pipelines.of(id).settings()
  t.deepEqual(
    { min_buffer, max_buffer, max_chars, max_lines },
    { min_buffer: 1, max_buffer: 10, max_chars: 80, max_lines: 7 },
  )
})

test('the first audio starts the session once, without waiting for the store', async (t) => {
  const { lifecycle, pipelines, attach, timers } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  session.configure({})
  t.is(session.audio(new Int16Array(0)), 'ok')
  lifecycle.setUnavailable(true)
  for (let i = 0; i < 3; i += 1) t.is(session.audio(AUDIO), 'ok')
  t.is(session.configure({}), 'config_too_late')
  t.is(pipelines.of(live.id).samples(), 3 * AUDIO.length)
  t.is(live.status, 'pending')
  lifecycle.setUnavailable(false)
  await eventually(() => {
    timers.advance(5000)
    assert.deepEqual(live.writes, ['start'])
  })
})

test('audio from before the model is ready reaches the pipeline', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t, { loads: false })
  const { id } = lifecycle.add()
  const session = await attach(id)
  session.configure({})
  t.is(session.audio(AUDIO), 'ok')
  t.is(pipelines.of(id).samples(), AUDIO.length)
})

test('audio that arrives while the pipeline takes other audio is answered at once and stays in order', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const { id } = lifecycle.add()
  const session = await attach(id)
  session.configure({})
  const [first, second] = [AUDIO, new Int16Array(800).fill(2)]
  const answers: Array<string> = []
  session.onDrained(() => {
    if (answers.length > 0) return
    answers.push('asked')
    answers.push(session.audio(second))
  })
  t.is(session.audio(first), 'ok')
  t.deepEqual(answers, ['asked', 'ok'])
  t.deepEqual(pipelines.of(id).pushed, [first, second])
})

test('a pipeline that cannot be created fails its session', async (t) => {
  const { lifecycle, attach, logger } = startSessions(t, { opens: false })
  const live = lifecycle.add()
  const session = await attach(live.id)
  session.configure({})
  await eventually(() => assert.partialDeepStrictEqual(live.cause, { status: 'error', code: 'engine_failed' }))
  t.is(session.audio(AUDIO), 'over')
  t.regex(JSON.stringify(logger.lines), /no pipeline/)
})

test('audio for a session with a URL is refused, before and after its config', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const live = lifecycle.add({ audioFormat: 'hls' })
  const session = await attach(live.id)
  t.is(session.audio(AUDIO), 'audio_not_expected')
  t.is(session.configure({}), 'ok')
  t.is(session.audio(AUDIO), 'audio_not_expected')
  t.is(pipelines.of(live.id).samples(), 0)
  t.is(live.status, 'pending')
})

test('a final is stored without line breaks and sent as caption; a partial is only sent', async (t) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  pipelines.of(live.id).partial(1, 'hel')
  await pipelines.of(live.id).final(1, 'hello')
  t.deepEqual(live.writes, ['start', 'segment 1'])
  t.is(live.segments[0]?.text, 'hello')
  t.deepEqual(
    signals.filter(({ kind }) => kind === 'transcription'),
    [
      { kind: 'transcription', segment: 1, final: false, start: 0, end: 0.5, text: 'hel', language: 'en' },
      { kind: 'transcription', segment: 1, final: true, start: 0, end: 0.5, text: 'hello', language: 'en' },
    ],
  )
})

test('in a store outage the first final waits a second, later ones do not; all are stored in order', async (t) => {
  const { lifecycle, pipelines, attach, listen, timers } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  const texts = (): ReadonlyArray<string> =>
    signals.flatMap((signal) => (signal.kind === 'transcription' ? [signal.text] : []))
  session.configure({})
  session.audio(AUDIO)
  await eventually(() => assert.deepEqual(live.writes, ['start']))
  lifecycle.setUnavailable(true)
  const first = pipelines.of(live.id).final(1, 'one')
  await eventually(() => assert.ok(timers.size() >= 2, 'one timer for the retry and one for the wait of the final'))
  timers.advance(900)
  t.deepEqual(texts(), [])
  timers.advance(100)
  await first
  t.deepEqual(texts(), ['one'])
  await pipelines.of(live.id).final(2, 'two')
  t.deepEqual(texts(), ['one', 'two'])
  session.finish()
  lifecycle.setUnavailable(false)
  await eventually(() => {
    timers.advance(5000)
    assert.deepEqual(live.writes, ['start', 'segment 1', 'segment 2', 'segment 3', 'end'])
  })
})

test('samples of a wrong format are told in the log and in the activity, until another sender comes', async (t) => {
  const { lifecycle, attach, sessions, logger } = startSessions(t)
  const { id } = lifecycle.add()
  const first = await attach(id)
  first.configure({})
  const floats = Float32Array.from({ length: 16_000 }, (_, index) => Math.sin(index / 20) / 3)
  t.is(sessions.runs.wrongSamples(id), null)
  first.audio(new Int16Array(floats.buffer))
  t.is(sessions.runs.wrongSamples(id), 'float32')
  t.like(logger.lines.find(({ message }) => message.includes('16-bit')), { level: 'warn', fields: { liveId: id } })
  first.lost(60_000)
  const second = await attach(id)
  second.audio(Int16Array.from(floats, (value) => value * 32_767))
  t.is(sessions.runs.wrongSamples(id), null)
})
