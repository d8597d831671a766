import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { RECORD_AFTER_MS } from '../../../../application/lives/commands/admit-sender.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, startSessions } from '../../../support/worlds/session-world.ts'

test('one of many senders attaches; a sender that an unavailable store refused blocks no other sender', async (t) => {
  const { lifecycle, sessions } = startSessions(t)
  const live = lifecycle.add()
  lifecycle.setUnavailable(true)
  t.like(await sessions.attachSender(live.id), { left: { _tag: 'StoreUnavailable' } })
  t.false(sessions.runs.hasSender(live.id))
  lifecycle.setUnavailable(false)
  const answers = await Promise.all(Array.from({ length: 20 }, () => sessions.attachSender(live.id)))
  t.deepEqual(
    answers
      .map((answer) => (E.isLeft(answer) ? answer.left._tag : 'attached'))
      .toSorted()
      .slice(-2),
    ['SenderAlreadyConnected', 'attached'],
  )
  t.is(answers.filter(E.isRight).length, 1)
  t.true(sessions.runs.hasSender(live.id))
})

test('at no moment of its admission does a sender share its place with another', async (t) => {
  const { lifecycle, sessions } = startSessions(t)
  const live = lifecycle.add()
  const attempts = [sessions.attachSender(live.id)]
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.resolve()
    attempts.push(sessions.attachSender(live.id))
  }
  t.is((await Promise.all(attempts)).filter(E.isRight).length, 1)
})

test('a sender is not admitted to a session that began to end meanwhile', async (t) => {
  const { lifecycle, attach, sessions, finish } = startSessions(t)
  const live = lifecycle.add({ audioFormat: 'hls', audioUrl: 'http://radio.example/live', autoStart: true })
  const first = await attach(live.id)
  first.configure({})
  first.closed('sender_closed')
  const attaching = sessions.attachSender(live.id)
  const finishing = finish(live.id, 0)
  t.like(await attaching, { left: { _tag: 'LiveOver' } })
  await finishing
})

test('a session that moved away is dropped: its sockets are notified, and nothing is written', async (t) => {
  const { lifecycle, attach, listen, sessions, pipelines, finish } = startSessions(t)
  const live = lifecycle.add()
  const session = await attach(live.id)
  const signals = listen(live.id)
  session.configure({})
  session.audio(AUDIO)
  await eventually(() => assert.deepEqual(live.writes, ['start']))
  const finishing = finish(live.id, 0)
  sessions.runs.drop(live.id)
  t.is(await finishing, null, 'the caller must end the session elsewhere')
  t.is(signals.at(-1)?.kind, 'moved')
  t.true(pipelines.of(live.id).isAborted())
  t.is(session.audio(AUDIO), 'over')
  session.closed('sender_closed')
  await sessions.close()
  t.deepEqual(live.writes, ['start'])
})

test('a handshake that never carried audio leaves no event', async (t) => {
  const { lifecycle, attach, timers } = startSessions(t)
  const live = lifecycle.add()
  for (let number = 0; number < 50; number += 1) (await attach(live.id)).abandoned()
  timers.advance(RECORD_AFTER_MS)
  const ended = lifecycle.add()
  const configured = await attach(ended.id)
  configured.configure({})
  configured.closed('sender_closed')
  await eventually(() => assert.deepEqual(ended.writes, ['end']))
  timers.advance(RECORD_AFTER_MS)
  t.deepEqual([live.epoch, live.writes, ended.epoch], [0, [], 0])
})

test('a sender is recorded with its first audio, and only then is its leaving recorded', async (t) => {
  const { lifecycle, attach } = startSessions(t)
  const live = lifecycle.add()
  const sender = await attach(live.id)
  sender.configure({})
  t.is(live.epoch, 0)
  sender.audio(AUDIO)
  await eventually(() => assert.deepEqual([live.epoch, live.writes], [1, ['start']]))
  sender.abandoned()
  await eventually(() => assert.deepEqual(live.writes, ['start', 'detach']))
  t.false(live.attached)
})

test('a silent sender that stays is recorded, so its session does not count as forgotten', async (t) => {
  const { lifecycle, attach, timers } = startSessions(t)
  const live = lifecycle.add()
  const sender = await attach(live.id)
  timers.advance(RECORD_AFTER_MS - 1)
  t.is(live.epoch, 0)
  timers.advance(1)
  await eventually(() => assert.ok(live.attached))
  sender.abandoned()
  await eventually(() => assert.deepEqual(live.writes, ['detach']))
})
