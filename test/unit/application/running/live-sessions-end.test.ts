import test from 'ava'
import assert from 'node:assert/strict'
import type { SenderSession } from '../../../../application/running/socket-sessions.ts'
import { END_POSITION } from '../../../support/doubles/memory/lifecycle.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, kindsOf, startSessions } from '../../../support/worlds/session-world.ts'

test('FINISH gives the pipeline at most 30 s, then the session finishes; repeats do nothing', async (t) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started']))
  session.audio(AUDIO)
  session.finish()
  session.finish()
  session.closed('sender_closed')
  t.is(session.audio(AUDIO), 'over')
  t.is(session.configure({}), 'over')
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started', 'transcription', 'ended']))
  t.deepEqual(pipelines.of(live.id).finishes, [30_000])
  t.deepEqual(live.cause, { status: 'finished', reason: 'finish_message' })
  t.deepEqual(live.writes, ['start', 'segment 1', 'end'])
  t.true(pipelines.of(live.id).isAborted())
})

for (const reason of ['sender_closed', 'audio_too_fast', 'rate_limited', 'bad_frames'] as const) {
  test(`after a lost sender (${reason}) the session finishes the received audio within 10 s`, async (t) => {
    const { lifecycle, pipelines, attach, sessions } = startSessions(t)
    const live = lifecycle.add()
    const session = await attach(live.id)
    session.configure({})
    session.audio(AUDIO)
    session.closed(reason)
    await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason }))
    t.deepEqual(pipelines.of(live.id).finishes, [10_000])
    t.is(live.segments.length, 1)
    await eventually(() => assert.equal(sessions.count(), 0))
  })
}

test('a pipeline that never finishes does not keep its session open', async (t) => {
  const { lifecycle, attach, timers } = startSessions(t, {
    beforeTail: async () => Promise.withResolvers<void>().promise,
  })
  const live = lifecycle.add()
  const session = await attach(live.id)
  session.configure({})
  session.audio(AUDIO)
  session.closed('sender_closed')
  await eventually(() => {
    timers.advance(1000)
    assert.equal(live.status, 'finished')
  })
  t.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' })
})

test('the next sender of an auto-started session gets the same pipeline', async (t) => {
  const { lifecycle, pipelines, attach } = startSessions(t)
  const live = lifecycle.add({ audioFormat: 'hls', autoStart: true })
  const first = await attach(live.id)
  first.configure({})
  first.closed('sender_closed')
  t.is(live.status, 'pending')
  const second = await attach(live.id)
  second.configure({})
  t.is(pipelines.all.length, 1)
  second.finish()
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'finish_message' }))
})

test('an incomplete handshake leaves no running session, and another sender can attach', async (t) => {
  const { lifecycle, attach, sessions } = startSessions(t)
  const live = lifecycle.add()
  const lost = await attach(live.id)
  lost.abandoned()
  await eventually(() => assert.ok(!live.attached))
  t.is(sessions.count(), 0)
  const next = await attach(live.id)
  t.is(next.configure({}), 'ok')
})

test('a model that does not load and a failing engine are errors of the session', async (t) => {
  const { lifecycle, pipelines, attach, listen } = startSessions(t, { loads: false })
  const [unloadable, broken] = [lifecycle.add(), lifecycle.add()]
  const first = await attach(unloadable.id)
  const signals = listen(unloadable.id)
  first.configure({})
  pipelines
    .of(unloadable.id)
    .load({ _tag: 'ModelLoadFailed', model: 'demo-en', reason: 'a secret path' })
  await eventually(() =>
    assert.partialDeepStrictEqual(unloadable.cause, { status: 'error', code: 'model_load_failed' }),
  )
  await eventually(() => assert.deepEqual(kindsOf(signals), ['ended']))
  t.notRegex(JSON.stringify(unloadable.cause), /secret path/)
  t.is(first.audio(AUDIO), 'over')

  const second = await attach(broken.id)
  second.configure({})
  second.audio(AUDIO)
  pipelines.of(broken.id).fail({ _tag: 'JobFailed', reason: 'it died' })
  second.closed('sender_closed')
  await eventually(() => assert.partialDeepStrictEqual(broken.cause, { status: 'error', code: 'engine_failed' }))
})

test('an end by another process is reported once and stops the pipeline', async (t) => {
  const { lifecycle, pipelines, attach, listen, sessions, finish } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started']))
  session.audio(AUDIO)
  const finishing = finish(live.id, 2000)
  t.is(session.audio(AUDIO), 'over', 'the route finishes the received audio')
  await finishing
  lifecycle.endElsewhere(live.id, { status: 'finished', reason: 'finish_route' })
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started', 'transcription', 'ended']))
  session.closed('sender_closed')
  t.true(pipelines.of(live.id).isAborted())
  t.is(sessions.count(), 0)
  t.deepEqual(signals.at(-1), { kind: 'ended', cause: { status: 'finished', reason: 'finish_route' } })
})

test('the finish route waits at most 2 s, although FINISH allows 30 s', async (t) => {
  const { lifecycle, pipelines, attach, finish, timers } = startSessions(t, {
    beforeTail: () => new Promise(() => undefined),
  })
  const live = lifecycle.add()
  const session = await attach(live.id)
  session.configure({})
  session.audio(AUDIO)
  session.finish()
  let hasFlushed = false
  void finish(live.id, 2000).then(() => { hasFlushed = true })
  t.deepEqual(pipelines.of(live.id).finishes, [30_000, 2000])
  await eventually(() => {
    if (timers.monotonic() < 5000) timers.advance(1000)
    assert.ok(hasFlushed)
  })
})

for (const [title, leave] of [
  ['closes', (session: SenderSession) => session.closed('sender_closed')],
  ['sends FINISH', (session: SenderSession) => session.finish()],
] as const) {
  test(`if the sender ${title} while a route finishes its session, the route has ended the session`, async (t) => {
    const heard = Promise.withResolvers<void>()
    const { lifecycle, attach, finish } = startSessions(t, { beforeTail: () => heard.promise, tail: () => null })
    const live = lifecycle.add()
    const session = await attach(live.id)
    session.configure({})
    session.audio(AUDIO)
    const finishing = finish(live.id, 2000)
    leave(session)
    heard.resolve()
    t.deepEqual(await finishing, { position: END_POSITION })
    t.deepEqual(live.cause, { status: 'finished', reason: 'finish_route' })
  })
}

test('an end by this process is reported once it is stored, without the log, and only once', async (t) => {
  const { lifecycle, attach, listen, sessions } = startSessions(t)
  const live = lifecycle.add()
  lifecycle.setDeliversEnds(false)
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.finish()
  await eventually(() => assert.equal(signals.at(-1)?.kind, 'ended'))
  t.is(live.status, 'finished')
  t.is(kindsOf(signals).filter((kind) => kind === 'ended').length, 1)
  t.is(sessions.count(), 0)
})

test('a refused end is retried until it is stored; clients learn of it within 2 s', async (t) => {
  const { lifecycle, attach, listen, timers, logger, sessions } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  await eventually(() => assert.deepEqual(kindsOf(signals), ['started']))
  lifecycle.setUnavailable(true)
  session.finish()
  await eventually(() => assert.ok(logger.lines.length > 0))
  timers.advance(1999)
  t.deepEqual(kindsOf(signals), ['started'], 'a slow store still has time to answer')
  timers.advance(1)
  t.deepEqual(kindsOf(signals), ['started', 'ended'])
  t.is(session.audio(AUDIO), 'over')
  session.closed('sender_closed')
  t.like(await sessions.attachSender(live.id), { left: { _tag: 'LiveOver' } })
  t.is(sessions.count(), 1, 'the end is not stored yet')
  lifecycle.setUnavailable(false)
  await eventually(() => {
    timers.advance(5000)
    assert.equal(sessions.count(), 0)
  })
  t.deepEqual([live.status, live.writes], ['finished', ['end']])
  t.deepEqual(kindsOf(signals), ['started', 'ended'])
})

test('an end that is retried stays the same command, so an append without an answer is recognised', async (t) => {
  const { lifecycle, attach, timers, logger } = startSessions(t)
  const { endLive } = lifecycle
  let commands = 0
  Object.assign(lifecycle, {
    endLive: (...end: Parameters<typeof endLive>) => {
      commands += 1
      return endLive(...end)
    },
  })
  const live = lifecycle.add()
  const session = await attach(live.id)
  lifecycle.setUnavailable(true)
  session.finish()
  await eventually(() => assert.ok(logger.lines.length > 0))
  lifecycle.setUnavailable(false)
  await eventually(() => {
    timers.advance(5000)
    assert.equal(live.status, 'finished')
  })
  t.is(commands, 1)
})

test('a session that a route ends in a store outage counts as ended, and ends in the log afterwards', async (t) => {
  const { lifecycle, attach, listen, timers, sessions, finish } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  lifecycle.setUnavailable(true)
  const finishing = finish(live.id, 2000)
  t.is(session.audio(AUDIO), 'over')
  await eventually(() => {
    timers.advance(500)
    assert.equal(signals.at(-1)?.kind, 'ended')
  })
  session.lost()
  t.is(lifecycle.attached(live.id).status, 'pending')
  lifecycle.setUnavailable(false)
  await eventually(() => {
    timers.advance(5000)
    assert.equal(sessions.count(), 0)
  })
  t.deepEqual(await finishing, { position: END_POSITION })
  t.is(live.status, 'finished')
})

test('200 sessions come and go and leave nothing behind', async (t) => {
  const { lifecycle, pipelines, attach, sessions, timers } = startSessions(t)
  const lives = Array.from({ length: 200 }, () => lifecycle.add())
  for (const [index, { id }] of lives.entries()) {
    const session = await attach(id)
    if (index % 4 !== 0) session.configure({})
    if (index % 4 > 1) session.audio(AUDIO)
    if (index % 2 === 0) session.finish()
    else session.closed('sender_closed')
  }
  await eventually(() => assert.equal(sessions.count(), 0))
  t.true(lives.every(({ status }) => status === 'finished'))
  t.true(pipelines.all.every((pipeline) => pipeline.isAborted()))
  // Returning listeners can get recent finals for 60 s.
  timers.advance(60_000)
  t.is(timers.size(), 0)
})
