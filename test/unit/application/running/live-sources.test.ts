import assert from 'node:assert/strict'
import test from 'ava'
import { PULL_FAILED } from '../../../support/doubles/scripted/puller.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, autoStarted, startSessions, URL_LIVE } from '../../../support/worlds/session-world.ts'

const COMPLETE = { kind: 'complete' } as const

test('an auto-started session is active once its process has a pid, and pulls its URL once', async (t) => {
  const { live, pullers, pull } = await autoStarted(t)
  t.is(live.status, 'active')
  t.deepEqual(pullers.latest().targets, [{ url: URL_LIVE.audioUrl, mediaSequence: null, language: 'en' }])
  pull(live.id)
  t.is(pullers.all.length, 1)
})

test('without auto_start the config starts the source, and the first audio starts the session', async (t) => {
  const { lifecycle, pullers, pipelines, attach } = startSessions(t)
  const live = lifecycle.add({ ...URL_LIVE, autoStart: false })
  const session = await attach(live.id)
  t.is(pullers.all.length, 0)
  t.is(session.configure({}), 'ok')
  t.is(session.configure({}), 'ok', 'allowed until the first audio')
  t.is(pullers.all.length, 1)
  await eventually(() => assert.deepEqual(live.writes, ['source null at 0 after null']))
  t.is(live.status, 'pending')
  pullers.latest().events.audio(AUDIO, null)
  await eventually(() => assert.equal(live.status, 'active'))
  t.is(pipelines.of(live.id).samples(), AUDIO.length)
  t.is(session.configure({}), 'config_too_late')
  t.is(session.audio(AUDIO), 'audio_not_expected')
  session.closed('sender_closed')
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' }))
  t.true(pullers.latest().stopped)
})

test('no socket owns an auto-started source; FINISH still ends it', async (t) => {
  const { live, pullers, attach } = await autoStarted(t)
  const first = await attach(live.id)
  first.closed('sender_closed')
  t.false(pullers.latest().stopped)
  const second = await attach(live.id)
  second.finish()
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'finish_message' }))
  t.true(pullers.latest().stopped)
})

test('an ended source finishes the session after its last words, and the process stops', async (t) => {
  const { live, pullers, pipelines } = await autoStarted(t)
  pullers.latest().events.audio(AUDIO, null)
  pullers.latest().events.ended(COMPLETE)
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'source_ended' }))
  t.true(pullers.latest().stopped)
  t.is(pipelines.of(live.id).samples(), AUDIO.length)
})

test('a session whose stream ended finishes after failed retries, and fails if audio had returned', async (t) => {
  for (const [hasAudio, cause] of [
    [false, { status: 'finished', reason: 'source_ended' }],
    [true, { status: 'error', code: 'source_failed', detail: 'The audio source failed: unavailable' }],
  ] as const) {
    const { live, pullers, timers } = await autoStarted(t)
    const { events } = pullers.latest()
    events.audio(AUDIO, null)
    events.ended({ kind: 'interrupted', code: 'stream_over' })
    timers.advance(1000)
    if (hasAudio) events.audio(AUDIO, null)
    for (const seconds of [2, 4, 8, 16]) {
      events.ended(PULL_FAILED)
      timers.advance(seconds * 1000)
    }
    t.is(live.cause, undefined)
    events.ended(PULL_FAILED)
    await eventually(() => assert.deepEqual(live.cause, cause))
  }
})

test('the same process retries after 1, 2, 4, 8 and 16 s, then the session fails', async (t) => {
  const { live, pullers, timers } = await autoStarted(t)
  const { targets, events } = pullers.latest()
  for (const [index, seconds] of [1, 2, 4, 8, 16].entries()) {
    events.ended(PULL_FAILED)
    timers.advance(seconds * 1000 - 1)
    t.is(targets.length, index + 1, `not before ${seconds} s`)
    timers.advance(1)
    t.is(targets.length, index + 2)
  }
  t.is(live.cause, undefined)
  events.ended(PULL_FAILED)
  await eventually(() =>
    assert.deepEqual(live.cause, {
      status: 'error',
      code: 'source_failed',
      detail: 'The audio source failed: unavailable',
    }),
  )
  t.is(pullers.all.length, 1)
})

test('open, closed and silent private ports look the same to the owner and differ in the log', async (t) => {
  for (const code of [
    'unreachable',
    'timeout',
    'closed',
    'tls',
    'bad_answer',
    'http_404',
    'rtsp_401',
    'not_audio',
    'unresolved',
  ]) {
    const { live, pullers, timers, logger } = await autoStarted(t)
    for (const seconds of [1, 2, 4, 8, 16, 0]) {
      pullers.latest().events.ended({ kind: 'failed', code, retry: true, isPublic: false })
      timers.advance(seconds * 1000)
    }
    await eventually(() =>
      assert.deepEqual(live.cause, {
        status: 'error',
        code: 'source_failed',
        detail: 'The audio source failed: unavailable',
      }),
    )
    const reported = logger.lines.filter(({ message }) => message === 'a source failed; no more attempts')
    t.true(reported.some(({ fields }) => fields['code'] === code), code)
  }
})

test('after all retries the owner sees the last cause of a source on the public internet', async (t) => {
  const { live, pullers, timers } = await autoStarted(t)
  for (const [code, seconds] of [
    ['unresolved', 1], ['timeout', 2], ['unreachable', 4], ['http_503', 8], ['http_401', 16], ['http_404', 0],
  ] as const) {
    pullers.latest().events.ended({ kind: 'failed', code, retry: true, isPublic: true })
    timers.advance(seconds * 1000)
  }
  await eventually(() => assert.notEqual(live.cause, undefined))
  t.deepEqual(live.cause, { status: 'error', code: 'source_failed', detail: 'The audio source failed: http_404' })
})

test('permanent failures are not retried, and are reported wherever the source is', async (t) => {
  for (const isPublic of [true, false]) {
    const { live, pullers } = await autoStarted(t)
    pullers.latest().events.ended({ kind: 'failed', code: 'address_forbidden', retry: false, isPublic })
    const detail = 'The audio source failed: address_forbidden'
    await eventually(() => assert.deepEqual(live.cause, { status: 'error', code: 'source_failed', detail }))
    t.is(pullers.latest().targets.length, 1)
  }
})

test('after 60 s of audio the count of failures restarts', async (t) => {
  const { live, pullers, timers } = await autoStarted(t)
  const { targets, events } = pullers.latest()
  for (let round = 0; round < 4; round += 1) {
    for (const seconds of [1, 2, 4, 8, 16]) {
      events.ended(PULL_FAILED)
      timers.advance(seconds * 1000)
    }
    for (let second = 0; second < 60; second += 1) events.audio(new Int16Array(16_000), null)
  }
  t.is(targets.length, 21)
  t.is(live.cause, undefined)
})

test('after 10 s or three segments without audio a new process replaces the source process', async (t) => {
  const { live, pullers, timers } = await autoStarted(t)
  const first = pullers.latest()
  first.events.targetDuration(6)
  first.events.audio(AUDIO, null)
  first.events.delivered(41)
  timers.advance(17_999)
  t.false(first.stopped, 'three segments of 6 s')
  timers.advance(1)
  t.true(first.stopped)
  timers.advance(1000)
  t.is(pullers.all.length, 2)
  t.deepEqual(pullers.latest().targets, [{ url: URL_LIVE.audioUrl, mediaSequence: 41, language: 'en' }])
  await eventually(() => assert.equal(live.writes.at(-1), `source 1001 at ${AUDIO.length} after 41`))
  timers.advance(59_999)
  t.false(pullers.latest().stopped, 'starting a process may take long under load')
  pullers.latest().events.began()
  timers.advance(10_000)
  t.true(pullers.latest().stopped, 'ten seconds apply once the process runs')
})

test('a decoder has 15 s more to find the first audio of a stretch; then ten seconds apply again', async (t) => {
  const { pullers, timers } = await autoStarted(t)
  const { events } = pullers.latest()
  events.began()
  timers.advance(9_000)
  events.stretch({ lost: null, newClock: false })
  timers.advance(24_999)
  t.false(pullers.latest().stopped)
  events.audio(AUDIO, null)
  timers.advance(9_999)
  t.false(pullers.latest().stopped)
  timers.advance(1)
  t.true(pullers.latest().stopped)
})

test('audio that cannot be decoded is logged once, and so is a source without speech', async (t) => {
  for (const text of [null, 'Good morning']) {
    const { live, pullers, logger } = await autoStarted(t, { tail: () => text })
    const { events } = pullers.latest()
    events.audio(AUDIO, null)
    for (const seconds of [11, 12]) events.damaged(seconds)
    events.ended(COMPLETE)
    await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'source_ended' }))
    const lines = logger.lines.map(({ fields, message }) => [message, fields['seconds']])
    const damage = ['audio of a source could not be decoded and is left out', 11]
    t.deepEqual(lines, text === null ? [damage, ['no speech was found', undefined]] : [damage])
  }
})

test('a dead puller is restarted and counts as a failure', async (t) => {
  const { live, pullers, timers } = await autoStarted(t)
  for (const seconds of [1, 2, 4, 8, 16]) {
    pullers.latest().events.died('SIGKILL')
    timers.advance(seconds * 1000)
  }
  t.is(pullers.all.length, 6)
  pullers.latest().events.died('SIGKILL')
  await eventually(() => assert.equal(live.cause?.status, 'error'))
})

test('at most 30 s of audio are buffered, and the watchdog pauses meanwhile', async (t) => {
  const { live, pullers, pipelines, timers } = await autoStarted(t, { consumes: false })
  const puller = pullers.latest()
  puller.events.audio(new Int16Array(30 * 16_000 - 1), null)
  t.false(puller.paused)
  puller.events.audio(AUDIO, null)
  t.true(puller.paused)
  timers.advance(60_000)
  t.false(puller.stopped, 'a paused puller is not replaced')
  pipelines.of(live.id).consume(1)
  t.false(puller.paused)
  timers.advance(10_000)
  t.true(puller.stopped)
})

test('an end by another process stops the source process, also between two attempts', async (t) => {
  const { live, lifecycle, pullers, timers, sessions } = await autoStarted(t)
  pullers.latest().events.ended(PULL_FAILED)
  lifecycle.endElsewhere(live.id, { status: 'finished', reason: 'finish_route' })
  await eventually(() => assert.equal(sessions.count(), 0))
  t.true(pullers.latest().stopped)
  timers.advance(60_000)
  t.is(pullers.latest().targets.length, 1)
})

test('a later process continues the clock, the segments and the media sequence', async (t) => {
  const { lifecycle, pullers, pipelines, pull, listen } = startSessions(t)
  const live = lifecycle.add(URL_LIVE)
  live.point = { sampleOffset: 160_000, nextSegment: 7, mediaSequence: 12 }
  pull(live.id)
  t.deepEqual(pullers.latest().targets, [{ url: URL_LIVE.audioUrl, mediaSequence: 12, language: 'en' }])
  const signals = listen(live.id)
  t.is(pipelines.of(live.id).nextSegment, 7)
  pullers.latest().events.audio(AUDIO, null)
  await pipelines.of(live.id).final(7, 'again')
  t.like(signals.at(-1), { segment: 7, start: 16 })
  t.like(live.segments.at(-1), { segment: 7, start: 16, mediaSequence: 12 })
})

test('each final records the position of its HLS source, for a restart after a kill', async (t) => {
  const { live, pullers, pipelines } = await autoStarted(t)
  const { events } = pullers.latest()
  const second = new Int16Array(16_000)
  for (const sequence of [40, 41, 42]) {
    events.audio(second, null)
    events.delivered(sequence)
  }
  // These finals end after 0.5, 2.5 and 3.5 s.
  for (const number of [1, 3, 4]) await pipelines.of(live.id).final(number, 'words')
  t.deepEqual(live.segments.map(({ mediaSequence }) => mediaSequence), [undefined, 41, 42])
})

test('the start position in a playlist is recorded immediately, for a takeover before any final', async (t) => {
  const { live, pullers } = await autoStarted(t)
  const { events } = pullers.latest()
  events.audio(AUDIO, null)
  for (const sequence of [-1, 0, 1]) events.delivered(sequence)
  await eventually(() => assert.equal(live.writes.length, 3))
  t.deepEqual(live.writes, ['source 1000 at 0 after null', 'start', 'source 1000 at 0 after -1'])
})
