import assert from 'node:assert/strict'
import test from 'ava'
import type { PullerEvents } from '../../../../application/ports/audio-source.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import type { ManualTimers } from '../../../support/doubles/manual-timers.ts'
import { PULL_FAILED } from '../../../support/doubles/scripted/puller.ts'
import { autoStarted } from '../../../support/worlds/session-world.ts'

/** Plays seconds of audio in real time, starting at media time `from`; null when the source has no timestamps. */
const play = (events: PullerEvents, timers: ManualTimers, seconds: number, from: number | null): void => {
  for (let second = 0; second < seconds; second += 1) {
    timers.advance(1000)
    events.audio(new Int16Array(16_000), from === null ? null : from + second)
  }
}

const UNKNOWN_CONTINUITY = { lost: null, newClock: false } as const

test('missing audio shifts the times of later finals; the pipeline gets only a short silence', async (t) => {
  const { live, pullers, pipelines, timers, sessions } = await autoStarted(t)
  const { events } = pullers.latest()
  events.stretch(UNKNOWN_CONTINUITY)
  play(events, timers, 10, 700)
  events.delivered(5)
  events.stretch({ lost: 240, newClock: false })
  play(events, timers, 2, 950)
  events.delivered(30)
  // 10 s and 2 s of audio. The silence between them lasts 2 s: the pause that ends a phrase, and a second more.
  t.is(pipelines.of(live.id).samples(), 14 * 16_000)
  t.is(sessions.lostSeconds(), 240)
  // On the pipeline clock these finals end at 9.5 s, before the silence, and at 13.5 s, after the silence.
  for (const number of [10, 14]) await pipelines.of(live.id).final(number, 'words')
  const finals = live.segments.map(({ start, end, mediaSequence }) => [start, end, mediaSequence])
  t.deepEqual(finals, [[9, 9.5, undefined], [251, 251.5, 5]])
  events.died('SIGKILL')
  timers.advance(1000)
  await eventually(() => assert.equal(live.writes.at(-1), `source 1001 at ${252 * 16_000} after 30`))
})

test('without timestamps a reconnect adds the elapsed time as a gap, unless the source catches up', async (t) => {
  const { pullers, sessions, timers } = await autoStarted(t)
  const { events } = pullers.latest()
  events.stretch(UNKNOWN_CONTINUITY)
  play(events, timers, 20, null)
  events.ended(PULL_FAILED)
  timers.advance(6000)
  events.stretch(UNKNOWN_CONTINUITY)
  play(events, timers, 5, null)
  t.is(sessions.lostSeconds(), 6)
  // The source sends the buffered audio at once.
  timers.advance(4000)
  for (let second = 0; second < 5; second += 1) events.audio(new Int16Array(16_000), null)
  play(events, timers, 3, null)
  t.is(sessions.lostSeconds(), 6)
})
