import test from 'ava'
import assert from 'node:assert/strict'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, awaitPongs, errorCodesOf, startSockets } from '../../support/worlds/socket-world.ts'

const LIMIT = 20_000

/** Advances the clock in steps that are short enough for the heartbeat. */
const advanceClock = async (
  ms: number,
  {
    timers,
    sockets,
  }: {
    readonly timers: { readonly advance: (ms: number) => void }
    readonly sockets: ReadonlyArray<Parameters<typeof awaitPongs>[0]>
  },
): Promise<void> => {
  for (let remaining = ms; remaining > 0; remaining -= 5000) {
    timers.advance(Math.min(5000, remaining))
    for (const socket of sockets) await awaitPongs(socket)
  }
}

test('an active session without a frame for IDLE_TIMEOUT ends: 4408 for the sender, 1000 for listeners', async (t) => {
  const { lifecycle, configured, listener, timers, pipelines } = await startSockets(t, {}, { idleTimeout: LIMIT })
  const live = lifecycle.add()
  const [sender, listening] = [await configured(live), await listener(live)]
  const sendAudio = async (): Promise<void> => {
    const before = pipelines.of(live.id).pushed.length
    sender.sendAudio(audioOf(0.1))
    await eventually(() => assert.equal(pipelines.of(live.id).pushed.length, before + 1))
  }
  await advanceClock(2 * LIMIT, { timers, sockets: [listening] })
  await sendAudio()
  await advanceClock(LIMIT - 1, { timers, sockets: [listening] })
  await sendAudio()
  await advanceClock(LIMIT - 1, { timers, sockets: [listening] })
  t.deepEqual(errorCodesOf(sender.frames), [])
  timers.advance(1)
  t.deepEqual(await sender.closed, { code: 4408, reason: 'session_idle' })
  t.deepEqual(errorCodesOf(sender.frames), ['session_idle'])
  t.deepEqual(await listening.closed, { code: 1000, reason: '' })
  t.deepEqual(live.cause, { status: 'finished', reason: 'idle' })
})

test('a ping keeps a silent session open, and IDLE_TIMEOUT=0 turns the limit off', async (t) => {
  for (const idleTimeout of [LIMIT, 0]) {
    const { lifecycle, configured, timers, pipelines } = await startSockets(t, {}, { idleTimeout })
    const live = lifecycle.add()
    const sender = await configured(live)
    sender.sendAudio(audioOf(0.1))
    await eventually(() => assert.equal(pipelines.of(live.id).pushed.length, 1))
    await advanceClock(3 * LIMIT, { timers, sockets: idleTimeout === 0 ? [] : [sender] })
    t.deepEqual(errorCodesOf(sender.frames), [])
    t.is(live.cause, undefined)
  }
})

test('frames that arrived during an event loop stall are read before the session counts as idle', async (t) => {
  const { lifecycle, configured, timers, pipelines } = await startSockets(t, {}, { idleTimeout: LIMIT })
  const live = lifecycle.add()
  const sender = await configured(live)
  sender.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).pushed.length, 1))
  timers.standStill(2 * LIMIT)
  sender.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(live.id).pushed.length, 2))
  timers.advance(LIMIT - 1)
  t.deepEqual(errorCodesOf(sender.frames), [])
  t.is(live.cause, undefined)
})

test('a session is never idle while the server itself has paused reading', async (t) => {
  const { lifecycle, configured, listener, timers, pipelines } = await startSockets(
    t,
    { consumes: false },
    { idleTimeout: LIMIT },
  )
  const live = lifecycle.add()
  const [sender, listening] = [await configured(live), await listener(live)]
  for (let i = 0; i < 4; i += 1) sender.sendAudio(audioOf(10))
  await eventually(() => assert.ok(pipelines.of(live.id).samples() >= 30 * 16_000))
  await advanceClock(2 * LIMIT, { timers, sockets: [listening] })
  t.deepEqual(errorCodesOf(sender.frames), [])
  t.is(live.cause, undefined)
})
