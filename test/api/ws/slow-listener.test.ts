import test from 'ava'
import assert from 'node:assert/strict'
import { WebSocket } from 'ws'
import { eventually } from '../../support/tools/eventually.ts'
import { startSockets } from '../../support/worlds/socket-world.ts'

test('a listener that stops reading is closed with 1013, and another listener gets every frame', async (t) => {
  const { origin, lifecycle, listener, configured, pipelines } = await startSockets(t)
  const live = lifecycle.add()
  await configured(live)
  const slow = new WebSocket(`${origin}/ws/live?token=${live.listenerToken}`)
  const received: string[] = []
  slow.on('message', (data) => received.push((data as Buffer).toString()))
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    slow.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await eventually(() => assert.equal(received.length, 1))
  slow.pause()
  const good = await listener(live)
  // 32 MB in all, more than the kernel buffers.
  const text = 'x'.repeat(32_000)
  for (let segment = 1; segment <= 1000; segment += 1) {
    pipelines.of(live.id).partial(segment, text)
    if (segment % 20 === 0) await eventually(() => assert.equal(good.frames.length, 1 + segment))
  }
  slow.resume()
  t.deepEqual(await closed, { code: 1013, reason: 'slow_consumer' })
  t.like(JSON.parse(received.at(-1) ?? ''), { type: 'error', code: 'slow_consumer' })
  t.true(received.length < 1000, 'unread frames are not kept')
  t.is(good.frames.length, 1001)
})
