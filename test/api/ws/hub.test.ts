import test from 'ava'
import assert from 'node:assert/strict'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import type { Broadcast } from '../../../interfaces/ws/encoded-frame.ts'
import type { Connection } from '../../../interfaces/ws/connection.ts'
import type { Ending } from '../../../interfaces/ws/ends.ts'
import { createHub } from '../../../interfaces/ws/listeners/caption-hub.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startSockets } from '../../support/worlds/socket-world.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'

const fakeConnection = (buffered = 0) => {
  const sent: Array<string | Broadcast> = []
  const endings: Ending[] = []
  const connection: Connection = {
    send: (frame) => sent.push(frame),
    broadcast: (frame) => sent.push(frame),
    end: (ending) => endings.push(ending),
    drop: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    isPaused: () => false,
    buffered: () => buffered,
  }
  return { connection, sent, endings }
}

const frame: TranscriptFrame = {
  kind: 'transcription',
  segment: 1,
  final: true,
  start: 0,
  end: 1,
  text: 'Hello',
  language: 'en',
}

test('a frame is serialised once for all sockets of a session', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const hub = createHub({ bus, strict: false })
  const [first, second] = [fakeConnection(), fakeConnection()]
  hub.join(1, { role: 'sender', connection: first.connection })
  hub.join(1, { role: 'listener', connection: second.connection })
  bus.publish(1, frame)
  t.is(first.sent.length, 1)
  t.is(first.sent[0], second.sent[0], 'the same bytes, not a copy')
})

test('a listener with over 1 MiB unread is closed with 1013; a sender only misses captions', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const hub = createHub({ bus, strict: false })
  const limit = 1024 * 1024
  const [slow, busy, good] = [fakeConnection(limit + 1), fakeConnection(limit + 1), fakeConnection(limit)]
  hub.join(1, { role: 'listener', connection: slow.connection })
  hub.join(1, { role: 'sender', connection: busy.connection })
  hub.join(1, { role: 'listener', connection: good.connection })
  for (let i = 0; i < 3; i += 1) bus.publish(1, frame)
  t.deepEqual(slow.endings.map(({ close, reason }) => ({ close, reason })), [{ close: 1013, reason: 'slow_consumer' }])
  t.is(slow.sent.length, 0)
  t.is(busy.sent.length, 0)
  t.is(busy.endings.length, 0)
  t.is(good.sent.length, 3)
})

test('a session without sockets leaves nothing in the hub', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const hub = createHub({ bus, strict: false })
  for (let liveId = 1; liveId <= 200; liveId += 1) {
    const member = { role: 'listener', connection: fakeConnection(liveId % 3 === 0 ? 2 ** 21 : 0).connection } as const
    hub.join(liveId, member)
    bus.publish(liveId, frame)
    if (liveId % 2 === 0)
      bus.publish(liveId, { kind: 'ended', cause: { status: 'finished', reason: 'finish_message' } })
    hub.leave(liveId, member)
  }
  t.is(hub.size(), 0)
})

test('clients can read broadcast frames of every length', async (t) => {
  const { lifecycle, configured, listener, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const listening = await listener(live)
  const texts = [0, 1, 20, 50, 125, 126, 127, 65_000, 65_535, 65_536, 70_000].map((length) => 'é'.repeat(length))
  for (const text of texts) pipelines.of(live.id).partial(1, text)
  await eventually(() => assert.equal(listening.frames.length, 1 + texts.length))
  t.deepEqual(listening.frames.slice(1).map(({ text }) => text), texts)
})

test('a moved session closes its sockets with server_restart, and sockets that join later stay open', (t) => {
  const bus = createLiveBus({ logger: createRecordingLogger() })
  const hub = createHub({ bus, strict: false })
  const [sender, listener] = [fakeConnection(), fakeConnection()]
  hub.join(1, { role: 'sender', connection: sender.connection })
  hub.join(1, { role: 'listener', connection: listener.connection })
  bus.publish(1, { kind: 'moved' })
  for (const { endings } of [sender, listener]) t.like(endings, [{ close: 1012, reason: 'server_restart' }])
  t.is(hub.size(), 0)
  t.is(hub.join(1, { role: 'listener', connection: listener.connection }), undefined)
})
