import test from 'ava'
import { autoStarted } from '../../support/worlds/session-world.ts'

test('however often the clock of a source jumps, the inserted silence is bounded', async (t) => {
  const { live, pullers, pipelines, sessions, timers } = await autoStarted(t)
  const { events } = pullers.latest()
  const chunks = 20_000
  for (let index = 0; index < chunks; index += 1) {
    timers.advance(20)
    events.audio(new Int16Array(320), index * 500)
  }
  t.true(Math.abs(sessions.lostSeconds() - 24 * 3600) < 0.001, `${sessions.lostSeconds()} s`)
  t.true(
    pipelines.of(live.id).samples() / 16_000 <= (chunks / 50) * 3.1,
    'at most two seconds of silence for each second of audio',
  )
})
