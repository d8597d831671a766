import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { eventually } from '../../../support/tools/eventually.ts'
import { AUDIO, startSessions } from '../../../support/worlds/session-world.ts'

test('one of many senders attaches; a sender that an unavailable store refused blocks no other sender', async (t) => {
  const { lifecycle, sessions } = startSessions(t)
  const live = lifecycle.add()
  lifecycle.setUnavailable(true)
  t.like(await sessions.attachSender(live.id)(), { left: { _tag: 'StoreUnavailable' } })
  t.false(sessions.runs.hasSender(live.id))
  lifecycle.setUnavailable(false)
  const answers = await Promise.all(Array.from({ length: 20 }, () => sessions.attachSender(live.id)()))
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
