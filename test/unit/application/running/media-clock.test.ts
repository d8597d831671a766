import test from 'ava'
import fc from 'fast-check'
import {
  MIN_SECONDS_BETWEEN_GAPS, startStretch, advanceClock, MAX_GAP_SECONDS, MAX_LOST_SECONDS, MAX_REPEATED_SECONDS,
  TOLERANCE_SECONDS, INITIAL_CLOCK, WRAP_SECONDS, type MediaClock, type TimedAudio,
} from '../../../../application/running/clock/media-clock.ts'
import { createLiveClock } from '../../../../application/running/clock/live-clock.ts'
import type { Continuity } from '../../../../application/ports/audio-source.ts'

/** Audio, by default of one second. With `follows` it begins a new stretch, whose first bytes arrived at `began`. */
type ReceivedAudio = Partial<TimedAudio> & { readonly follows?: Continuity; readonly began?: number }

const UNKNOWN_BREAK: Continuity = { lost: null, newClock: false }

/** Returns the gap before each audio, in seconds. Audio without `arrived` arrives in real time. */
const gapsOf = (audio: ReadonlyArray<ReceivedAudio>): ReadonlyArray<number> => {
  let clock: MediaClock = INITIAL_CLOCK
  let arrived = 0
  return audio.map(({ length = 1, time = null, follows, began, arrived: givenArrival }) => {
    arrived = givenArrival ?? arrived + length
    if (follows !== undefined) clock = startStretch(clock, follows, began ?? arrived)
    const next = advanceClock(clock, { length, time, arrived })
    clock = next.clock
    return Math.round(next.gap * 1000) / 1000
  })
}

test('the first audio is second 0 for any timestamp; consecutive times leave no gap', (t) => {
  const times = [5000, 5001, 5002.09, null, 5003.95]
  t.deepEqual(gapsOf(times.map((time) => ({ time }))), [0, 0, 0, 0, 0])
  t.deepEqual(
    gapsOf([{ time: 7, follows: { lost: 30, newClock: false } }]),
    [0],
    'no audio can be lost before the first',
  )
})

test('timestamps that jump ahead leave an equal gap, within and between stretches', (t) => {
  t.deepEqual(gapsOf([{ time: 10 }, { time: 15 }, { time: 16 }]), [0, 4, 0])
  t.deepEqual(gapsOf([{ time: 10 }, { time: 17, follows: { lost: 6, newClock: false } }, { time: 18 }]), [0, 6, 0])
  t.deepEqual(gapsOf([{ time: 10 }, { time: null }, { time: 15 }]), [0, 0, 3], 'audio without a timestamp continues')
})

test('a discontinuity or an implausible clock gives no gap of its own', (t) => {
  t.deepEqual(gapsOf([{ time: 10 }, { time: 500, follows: { lost: 0, newClock: true } }, { time: 501 }]), [0, 0, 0])
  const slightlyAhead = gapsOf([{ time: 10 }, { time: 16, follows: { lost: 0, newClock: true } }])
  t.deepEqual(slightlyAhead, [0, 0], 'the new clock happens to be slightly ahead')
  const lost = { time: 0, follows: { lost: 12, newClock: true } }
  t.deepEqual(gapsOf([{ time: 10 }, lost, { time: 1 }, { time: 5 }]), [0, 12, 0, 3])
  for (const time of [0, 100_000 - WRAP_SECONDS, 30_000]) {
    const begun = { time: 1000, arrived: 50 }
    t.deepEqual(gapsOf([begun, { time, arrived: 51 }, { time: time + 1 }]), [0, 0, 0], `${time}, without a wait`)
    t.deepEqual(gapsOf([begun, { time, arrived: 59 }, { time: time + 1 }]), [0, 8, 0], `${time}, after silence`)
    const late = { time, arrived: 59, follows: UNKNOWN_BREAK }
    t.deepEqual(gapsOf([begun, late, { time: time + 1 }]), [0, 8, 0], `${time}, after a break`)
  }
})

test('after an unreported break the clock is trusted when the elapsed time allows it', (t) => {
  const back = (time: number, arrived: number) =>
    gapsOf([{ time: 1000, arrived: 50 }, { time, arrived, follows: UNKNOWN_BREAK }, { time: time + 1 }])
  t.deepEqual(back(1008, 57), [0, 7, 0], 'the gap exceeds the elapsed time: the server had buffered')
  t.deepEqual(back(1003, 57), [0, 2, 0], 'the gap is below the elapsed time: the server kept some audio')
  t.deepEqual(back(1300, 57), [0, 6, 0], 'the clock was reset')
  t.deepEqual(back(999, 51), [0, 0, 0], 'the source repeats buffered audio')
  t.deepEqual(gapsOf([{ arrived: 50 }, { arrived: 59, follows: UNKNOWN_BREAK }]), [0, 8], 'without timestamps')
})

test('audio that arrives in a burst is not missing, and repeated audio reduces the next gap', (t) => {
  // Each connection delivers eight seconds at once. Five of them repeat earlier audio.
  const burst = { length: 8, arrived: 100 }
  const brokenUntil = (arrived: number) =>
    gapsOf([burst, { arrived: 101 }, { arrived: 102 }, { length: 8, arrived, follows: UNKNOWN_BREAK }]).at(-1)
  t.deepEqual([107, 122].map(brokenUntil), [0, 12])
  t.deepEqual(gapsOf([{ time: 50 }, { time: 49, follows: { lost: 0, newClock: false } }, { time: 60 }]), [0, 0, 8])
})

test('the start-up time of a decoder counts neither as missing audio nor as early audio', (t) => {
  const slow = { length: 2, began: 10, arrived: 12, follows: UNKNOWN_BREAK }
  t.deepEqual(gapsOf([slow, { arrived: 13 }, { arrived: 14 }, { began: 18, follows: UNKNOWN_BREAK }]), [0, 0, 0, 4])
  const slowAgain = { began: 8, arrived: 11, length: 3, follows: UNKNOWN_BREAK }
  t.deepEqual(gapsOf([{ began: 0, follows: UNKNOWN_BREAK }, { arrived: 2 }, slowAgain]), [0, 0, 6])
})

test('a new clock is remembered through a stretch without audio', (t) => {
  const { clock: begun } = advanceClock(INITIAL_CLOCK, { length: 1, time: 10, arrived: 0 })
  const clock = startStretch(startStretch(begun, { lost: 0, newClock: true }, 0), UNKNOWN_BREAK, 0)
  t.is(advanceClock(clock, { length: 1, time: 13, arrived: 1 }).gap, 0)
})

test('a gap soon after another gap is added in full, but only after one second of audio', (t) => {
  const cut = { time: 0, length: 0.3, follows: { lost: 6, newClock: true } }
  const shortPieces = [{ time: 10 }, { time: 15, length: 0.2 }, { time: 17, length: 0.3 }, cut]
  t.deepEqual(gapsOf([...shortPieces, { time: 0.3, length: 0.3 }, { time: 0.6 }, { time: 1.6 }]), [0, 4, 0, 0, 0, 6, 0])
})

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true })

const JUMPY = fc.record({
  length: between(0.01, 5),
  time: fc.option(fc.oneof(between(-1e6, 1e6), fc.double(), between(0, 2000))),
  wait: fc.oneof(fc.constant(0), between(0, 2000)),
  follows: fc.option(fc.record({ lost: fc.option(between(0, 1e12)), newClock: fc.boolean() })),
})

test('for any source each gap and the sum of gaps are bounded, with audio between two gaps', (t) => {
  fc.assert(fc.property(fc.array(JUMPY, { maxLength: 200 }), (pieces) => {
    let [clock, arrived, sinceGap, lost]: [MediaClock, number, number, number] = [INITIAL_CLOCK, 0, Infinity, 0]
    for (const { length, time, wait, follows } of pieces) {
      arrived += wait
      if (follows !== null) clock = startStretch(clock, follows, arrived)
      const next = advanceClock(clock, { length, time: time !== null && Number.isFinite(time) ? time : null, arrived })
      clock = next.clock
      lost += next.gap
      t.true(
        next.gap === 0 ||
          (next.gap > TOLERANCE_SECONDS && next.gap <= MAX_GAP_SECONDS && sinceGap >= MIN_SECONDS_BETWEEN_GAPS - 1e-9),
      )
      t.true(lost <= MAX_LOST_SECONDS + 1e-6 && Math.abs(clock.lost - lost) < 1e-6)
      sinceGap = (next.gap > 0 ? 0 : sinceGap) + length
    }
  }))
})

test('the sum of all gaps is bounded', (t) => {
  const jumps = Array.from({ length: 400 }, (_, index) => ({ time: index * 500 }))
  t.is(gapsOf(jumps).reduce((sum, gap) => sum + gap, 0), MAX_LOST_SECONDS)
})

/** Pieces of a recording, each with the missing seconds before it. */
const PIECES = fc.array(fc.record({
  length: between(1, 10), missing: fc.oneof(fc.constant(0), between(0, 60)), isCut: fc.boolean(),
}), { minLength: 1, maxLength: 100 })

test('with any losses audio keeps its place in the recording, also when timestamps wrap around', (t) => {
  fc.assert(fc.property(PIECES, between(WRAP_SECONDS - 100, WRAP_SECONDS), (pieces, origin) => {
    let [clock, recorded, placed, drift]: [MediaClock, number, number, number] = [INITIAL_CLOCK, 0, 0, 0]
    for (const [index, { length, missing, isCut }] of pieces.entries()) {
      const lost = index === 0 ? 0 : missing
      recorded += lost
      // The playlist reports the missing time only roughly.
      if (isCut) clock = startStretch(clock, { lost: lost * 1.1, newClock: false }, recorded / 20)
      const next = advanceClock(clock, { length, time: (origin + recorded) % WRAP_SECONDS, arrived: recorded / 20 })
      clock = next.clock
      placed += next.gap
      drift = Math.max(drift, Math.abs(placed - recorded))
      recorded += length
      placed += length
    }
    t.true(drift <= TOLERANCE_SECONDS + 1e-6, `${drift} s`)
  }))
})

test('timestamps that vary by half a second add at most half a second of silence in all', (t) => {
  fc.assert(fc.property(fc.array(between(0, 0.5), { minLength: 1, maxLength: 300 }), (jitter) => {
    const gaps = gapsOf(jitter.map((late, index) => ({ length: 0.02, time: index * 0.02 + late })))
    t.true(gaps.reduce((sum, gap) => sum + gap, 0) <= 0.5 + 0.001)
  }))
})

test(`a clock that jumps back by up to ${MAX_REPEATED_SECONDS} s repeats audio; a larger jump is a new clock`, (t) => {
  const follows = { lost: 0, newClock: false }
  const behind = (step: number) => gapsOf([{ time: 100 }, { time: 101 + step, follows }, { time: 120 }]).at(-1)
  t.is(behind(-MAX_REPEATED_SECONDS + 0.5), 18)
  t.is(behind(-MAX_REPEATED_SECONDS - 0.5), 28.5)
})

test('the session clock is ahead of the pipeline clock by the loss, from the middle of the silence', (t) => {
  const clock = createLiveClock(16_000)
  clock.received(32_000)
  t.deepEqual([0, 1.5, 3].map(clock.at), [1, 2.5, 4])
  t.is(clock.lost(16_000, 1).length, 16_000)
  clock.received(16_000)
  t.is(clock.at(3.5), 4.5, 'the whole gap was inserted as silence')
  t.is(clock.lost(160_000, 1).length, 32_000)
  clock.received(16_000)
  // The inserted silence lasts from 4 to 6 s.
  const tenths = [3.9, 4.9, 5.1, 6.5].map((seconds) => Math.round(clock.at(seconds) * 10))
  t.deepEqual(tenths, [49, 59, 141, 155])
})
