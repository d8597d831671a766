import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { createFft } from '../../../../../infrastructure/onnx/fft.ts'
import { createLogMel } from '../../../../../infrastructure/onnx/whisper/log-mel.ts'

interface Case {
  readonly melBins: number
  readonly hopLength: number
  readonly features: ReadonlyArray<number>
}

/** The signal of fixtures/log-mel.py. */
const fixtureSignal = (): Float32Array => {
  let seed = 12345n
  return Float32Array.from({ length: 4800 }, (_, i) => {
    seed = (seed * 1103515245n + 12345n) % 2n ** 31n
    const noise = Number(seed / 65536n % 2048n) - 1024
    const triangle = Math.abs((i % 64) - 32) * 200 - 3200
    return i > 3500 ? 0 : (Math.floor((noise * i) / 2000) + triangle) / 32768
  })
}

const cases = JSON.parse(readFileSync('test/support/fixtures/engine/log-mel.json', 'utf8')) as ReadonlyArray<Case>

for (const { melBins, hopLength, features } of cases) {
  test(`the log-mel features equal the reference for ${melBins} mel bins and a hop of ${hopLength}`, (t) => {
    const ours = createLogMel({ samplingRate: 16000, fftSize: 400, hopLength, melBins })(fixtureSignal())
    t.is(ours.data.length, features.length)
    t.is(ours.frames, 4800 / hopLength)
    const furthest = features.reduce(
      (most, value, i) => Math.max(most, Math.abs(value - (ours.data[i] ?? Number.NaN))),
      0,
    )
    t.true(furthest < 1e-4, `furthest apart: ${furthest}`)
  })
}

test('with an odd number of frames the last frame is correct', (t) => {
  const settings = { samplingRate: 16000, fftSize: 400, hopLength: 160, melBins: 80 }
  const whole = fixtureSignal().subarray(0, 3200)
  const even = createLogMel(settings)(whole)
  const odd = createLogMel(settings)(whole.subarray(0, 3040))
  t.is(odd.frames, 19)
  // Frames whose windows end before the end of the audio are equal in both.
  const frame = ({ data, frames }: typeof odd, f: number): ReadonlyArray<number> =>
    Array.from({ length: 80 }, (_, mel) => data[mel * frames + f] ?? 0)
  t.deepEqual(frame(odd, 16), frame(even, 16))
  t.true(frame(odd, 18).every(Number.isFinite))
})

test('with an even number of frames the last frame is correct, and silence has its known value', (t) => {
  const settings = { samplingRate: 16000, fftSize: 400, hopLength: 160, melBins: 80 }
  const loud = createLogMel(settings)(fixtureSignal().subarray(0, 3200))
  t.is(loud.frames, 20)
  const lastFrame = Array.from({ length: 80 }, (_, mel) => loud.data[mel * loud.frames + loud.frames - 1] ?? 0)
  const floor = Math.min(...loud.data)
  t.true(lastFrame.some((value) => value > floor), 'the frame contains sound')
  const { data } = createLogMel(settings)(new Float32Array(3200))
  // The logarithm has the floor log10(1e-10) = -10, which is scaled to (-10 + 4) / 4 = -1.5.
  t.true(data.every((value) => Math.abs(value + 1.5) < 1e-6), `${data[0]}`)
})

test('the transform is the discrete Fourier transform for any size', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (size, seed) => {
      const input = Float64Array.from({ length: 2 * size }, (_, i) => Math.sin(seed + i * i))
      const output = createFft(size)(input.slice())
      for (let k = 0; k < size; k++) {
        let re = 0
        let im = 0
        for (let n = 0; n < size; n++) {
          const angle = (-2 * Math.PI * k * n) / size
          const [a, b] = [input[2 * n] ?? 0, input[2 * n + 1] ?? 0]
          re += a * Math.cos(angle) - b * Math.sin(angle)
          im += a * Math.sin(angle) + b * Math.cos(angle)
        }
        if (Math.hypot(re - (output[2 * k] ?? 0), im - (output[2 * k + 1] ?? 0)) > 1e-9 * size) return false
      }
      return true
    }),
    { numRuns: 60 },
  )
  t.pass()
})
