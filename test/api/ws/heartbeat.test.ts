import test from 'ava'
import assert from 'node:assert/strict'
import { WebSocket } from 'ws'
import { startHeartbeat } from '../../../interfaces/ws/heartbeat.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { awaitPongs, startSockets } from '../../support/worlds/socket-world.ts'

/** Starts a heartbeat on a manual clock, and counts its pings and losses. */
const startCounted = () => {
  const timers = createManualTimers()
  const counts = { pings: 0, lost: 0 }
  const heartbeat = startHeartbeat({
    ping: () => {
      counts.pings += 1
    },
    lost: () => {
      counts.lost += 1
    },
    timers,
    environment: timers,
  })
  return { timers, counts, heartbeat }
}

test('a ping is sent every 25 s, and a pong within 10 s keeps the connection', (t) => {
  const { timers, counts, heartbeat } = startCounted()
  for (let i = 1; i <= 5; i += 1) {
    timers.advance(25_000)
    t.is(counts.pings, i)
    timers.advance(0)
    heartbeat.pong()
  }
  t.is(counts.lost, 0)
})

test('a missing pong is reported as a loss once, 10 s after the ping', (t) => {
  const { timers, counts, heartbeat } = startCounted()
  timers.advance(34_999)
  t.is(counts.lost, 0)
  timers.advance(1)
  t.is(counts.lost, 1)
  heartbeat.stop()
  t.is(timers.size(), 0)
})

test('the time limit for a pong pauses while the socket is not read', (t) => {
  const { timers, counts, heartbeat } = startCounted()
  timers.advance(25_000 + 4000)
  heartbeat.setPaused(true)
  timers.advance(600_000)
  t.is(counts.lost, 0)
  heartbeat.setPaused(false)
  timers.advance(5999)
  t.is(counts.lost, 0)
  timers.advance(1)
  t.is(counts.lost, 1)
})

test('a pong that arrived during an event loop stall is read before the socket counts as lost', (t) => {
  const due: Array<() => void> = []
  let lost = 0
  const heartbeat = startHeartbeat({
    ping: () => undefined,
    lost: () => {
      lost += 1
    },
    timers: {
      after: (_, task) => {
        due.push(task)
        return () => void (due.includes(task) && due.splice(due.indexOf(task), 1))
      },
    },
    environment: { monotonic: () => 0 },
  })
  const ping = due.shift()
  ping?.()
  // After an event loop stall all due timers run before the sockets are read.
  for (const task of due.splice(0)) task()
  t.is(lost, 0)
  heartbeat.pong()
  for (const task of due.splice(0)) task()
  t.is(lost, 0)
})

test('a sender that stops answering pings is disconnected and its session finishes', async (t) => {
  const { origin, lifecycle, timers } = await startSockets(t)
  const live = lifecycle.add()
  const silent = new WebSocket(`${origin}/ws/live?token=${live.senderToken}`, { autoPong: false })
  await new Promise((resolve) => silent.once('message', resolve))
  timers.advance(35_000)
  await eventually(() => assert.deepEqual(live.cause, { status: 'finished', reason: 'sender_closed' }))
  t.is(live.status, 'finished')
})

test('a client that answers pings stays connected', async (t) => {
  const { lifecycle, listener, timers, sockets } = await startSockets(t)
  const socket = await listener(lifecycle.add())
  for (let passed = 0; passed < 90_000; passed += 5000) {
    timers.advance(5000)
    await awaitPongs(socket)
  }
  t.deepEqual(sockets.counts(), { sender: 0, listener: 1 })
})
