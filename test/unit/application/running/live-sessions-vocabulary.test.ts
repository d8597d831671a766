import assert from 'node:assert/strict'
import test from 'ava'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, startSessions } from '../../../support/worlds/session-world.ts'

test('the vocabulary of a config applies from the first pass and is recorded', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  t.is(session.configure({ max_chars: 40 }, { prompt: 'Ada speaks.', hotwords: ['Babbage'] }), 'ok')
  t.deepEqual(pipelines.of(live.id).vocabularies, [{ prompt: 'Ada speaks.', hotwords: ['Babbage'] }])
  await eventually(() => assert.deepEqual(live.vocabularies, [{ prompt: 'Ada speaks.', hotwords: ['Babbage'] }]))
})

test('after the first audio a config may only change prompt and hotwords', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  session.configure({}, { prompt: 'Ada speaks.' })
  session.audio(AUDIO)
  t.is(session.configure({}), 'config_too_late')
  t.is(session.configure({ max_chars: 40 }, { hotwords: ['Babbage'] }), 'config_too_late')
  t.is(session.configure({ words: true }), 'config_too_late')
  t.is(session.configure({}, { hotwords: ['Babbage'] }), 'ok')
  t.deepEqual(pipelines.of(live.id).vocabularies, [
    { prompt: 'Ada speaks.', hotwords: [] },
    { prompt: 'Ada speaks.', hotwords: ['Babbage'] },
  ])
  t.is(pipelines.all.length, 1)
})

test('an auto-started source gets the vocabulary too', async (t) => {
  const { lifecycle, pipelines, pullers, attach, pull } = startSessions(t)
  const live = lifecycle.add({ audioFormat: 'hls', audioUrl: 'https://media.example/a.m3u8', autoStart: true })
  pull(live.id)
  pullers.latest().events.audio(AUDIO, null)
  const session = await attach(live.id)
  t.is(session.configure({ max_chars: 5 }), 'config_too_late')
  t.is(session.configure({}, { hotwords: ['Babbage'] }), 'ok')
  t.deepEqual(pipelines.of(live.id).vocabularies.at(-1), { prompt: '', hotwords: ['Babbage'] })
})

test('of many changes within a second the log gets the first and the last, without repeats', async (t) => {
  const { lifecycle, pipelines, attach, timers } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  for (let i = 0; i < 20; i += 1) session.configure({}, { prompt: `${i}` })
  t.is(pipelines.of(live.id).vocabularies.length, 20, 'each change applies at once')
  await eventually(() => assert.deepEqual(live.vocabularies, [{ prompt: '0' }]))
  await eventually(() => {
    timers.advance(1000)
    assert.deepEqual(live.vocabularies, [{ prompt: '0' }, { prompt: '19' }])
  })
  session.configure({}, { prompt: '19' })
  session.audio(AUDIO)
  await eventually(() => {
    timers.advance(1000)
    assert.deepEqual(live.writes, ['vocabulary', 'vocabulary', 'start'])
  })
})

test('beyond the daily budget of the owner a change is refused, but audio is not', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t, {}, undefined, 4)
  const live = lifecycle.add()
  const session = await attach(live.id)
  t.is(session.configure({}, { prompt: 'a'.repeat(1000) }), 'ok')
  t.is(session.configure({}, { prompt: 'a'.repeat(1000) }), 'ok', 'the same again costs nothing')
  for (const prompt of ['b', 'c', 'd']) t.is(session.configure({}, { prompt }), 'ok')
  session.audio(AUDIO)
  t.is(session.configure({}, { prompt: 'e' }), 'rate_limited')
  t.is(session.audio(AUDIO), 'ok')
  t.deepEqual(pipelines.of(live.id).vocabularies.at(-1), { prompt: 'd', hotwords: [] })
  const another = lifecycle.add()
  t.is((await attach(another.id)).configure({}, { prompt: 'e' }), 'ok', 'the config that a sender begins with')
})

test('beyond the daily budget a second config is refused, also before the audio', async (t) => {
  const { lifecycle, attach, pipelines } = startSessions(t, {}, undefined, 1)
  const live = lifecycle.add()
  const session = await attach(live.id)
  t.is(session.configure({}, { prompt: 'a' }), 'ok')
  t.is(session.configure({ vad: false }, { prompt: 'b' }), 'rate_limited')
  t.deepEqual(pipelines.of(live.id).vocabularies.at(-1), { prompt: 'a', hotwords: [] })
  t.is(session.configure({ vad: false }), 'ok', 'settings cost nothing')
})
