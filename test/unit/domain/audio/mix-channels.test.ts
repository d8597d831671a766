import test from 'ava'
import { mixChannels, startMix, weightsOf } from '../../../../domain/audio/mix-channels.ts'

const RATE = 16_000
const BLOCK = 320

const tone = (hertz: number, gain: number, seconds: number): Float32Array =>
  Float32Array.from({ length: seconds * RATE }, (_, at) => gain * Math.sin((2 * Math.PI * hertz * at) / RATE))

const joined = (...parts: ReadonlyArray<Float32Array>): Float32Array =>
  Float32Array.from(parts.flatMap((part) => [...part]))

/** Mixes whole channels in blocks. */
const mixed = (channels: ReadonlyArray<Float32Array>, mask = 0n): Float32Array => {
  let mix = startMix(weightsOf(channels.length, mask), RATE)
  const blocks: Array<Float32Array> = []
  for (let at = 0; at < (channels[0]?.length ?? 0); at += BLOCK) {
    const result = mixChannels(mix, channels.map((samples) => samples.subarray(at, at + BLOCK)))
    mix = result.mix
    blocks.push(result.samples)
  }
  return joined(...blocks)
}

/** Returns the power of some seconds, relative to a tone of full scale, in decibels. */
const powerOf = (samples: Float32Array, from: number, to: number): number => {
  const part = samples.subarray(from * RATE, to * RATE)
  return 10 * Math.log10((2 * part.reduce((sum, sample) => sum + sample * sample, 0)) / part.length)
}

const about = (value: number, expected: number): boolean => Math.abs(value - expected) < 0.5

test('one channel stays as it is', (t) => {
  const sound = tone(440, 0.3, 1)
  t.deepEqual(mixed([sound]), sound)
})

test('channels without known positions are averaged, and known ones are weighted by their positions', (t) => {
  t.deepEqual(weightsOf(3, 0n), [1 / 3, 1 / 3, 1 / 3])
  t.deepEqual(weightsOf(2, 3n), [0.5, 0.5])
  const [left, right, centre, effects, ...back] = weightsOf(6, 0b111111n)
  t.true(centre !== undefined && left === right && centre > (left ?? 1) && (left ?? 0) > (back[0] ?? 1))
  t.is(effects, 0)
  t.deepEqual(weightsOf(1, 8n), [1], 'effects alone are heard')
  const sum = mixed([tone(440, 0.3, 1), tone(440, 0.6, 1), tone(440, 0.9, 1)])
  t.true(about(powerOf(sum, 0, 1), 20 * Math.log10(0.6)))
})

test('the loudest channel replaces channels that cancel each other, from the first samples on', (t) => {
  const [left, right] = [tone(440, 0.5, 2), tone(440, -0.4, 2)]
  const samples = mixed([left, right])
  t.true(about(powerOf(samples, 0.02, 2), 20 * Math.log10(0.5)))
  t.deepEqual(samples.subarray(RATE), left.subarray(RATE))
})

test('the change fades in 20 ms, without a step', (t) => {
  const left = joined(tone(440, 0.5, 2), tone(440, 0.5, 4))
  const right = joined(tone(440, 0.5, 2), tone(440, -0.5, 4))
  const samples = mixed([left, right])
  const steps = samples.map((sample, at) => Math.abs(sample - (samples[at - 1] ?? 0)))
  const natural = 0.5 * 2 * Math.PI * (440 / RATE)
  t.true(Math.max(...steps.subarray(2 * RATE + BLOCK)) < natural * 1.2)
  t.true(about(powerOf(samples, 5.5, 6), 20 * Math.log10(0.5)))
})

test('a mix that is 10 dB below is kept; a cancelled one is used again only above that', (t) => {
  // The difference of two sides sets how far the mix is below the loudest channel.
  const below = (decibels: number): number => 1 - 2 * 10 ** (-decibels / 20)
  const right = (decibels: number, seconds: number): Float32Array => tone(440, -0.5 * below(decibels), seconds)
  const kept = mixed([tone(440, 0.5, 3), right(10.5, 3)])
  t.true(about(powerOf(kept, 2, 3), 20 * Math.log10(0.5) - 10.5))
  const sides = [tone(440, 0.5, 9), joined(right(20, 3), right(10.5, 3), right(6, 3))] as const
  const samples = mixed(sides)
  t.true(about(powerOf(samples, 2, 3), 20 * Math.log10(0.5)))
  t.true(about(powerOf(samples, 5, 6), 20 * Math.log10(0.5)), 'no change between the two limits')
  t.true(about(powerOf(samples, 8, 9), 20 * Math.log10(0.5) - 6))
})

test('of many tracks, that of the next speaker is taken at once', (t) => {
  const silent = new Float32Array(2 * RATE)
  const talk = tone(440, 0.5, 2)
  const tracks = [joined(talk, silent), joined(silent, talk), ...[1, 2, 3, 4].map(() => joined(silent, silent))]
  const samples = mixed(tracks)
  t.true(about(powerOf(samples, 0.1, 2), 20 * Math.log10(0.5)))
  t.true(about(powerOf(samples, 2.3, 4), 20 * Math.log10(0.5)))
})

test('channels that have nothing in common are averaged', (t) => {
  const samples = mixed([tone(440, 0.5, 2), tone(700, 0.5, 2)])
  t.true(about(powerOf(samples, 0.5, 2), 20 * Math.log10(0.5) - 3))
})

test('silence stays silence', (t) => {
  t.true(mixed([new Float32Array(RATE), new Float32Array(RATE)]).every((sample) => sample === 0))
})
