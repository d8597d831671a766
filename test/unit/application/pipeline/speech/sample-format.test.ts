import test from 'ava'
import { SAMPLE_RATE } from '../../../../../application/ports/engine.ts'
import { type SampleFormat, watchSampleFormat } from '../../../../../application/pipeline/speech/sample-format.ts'
import { sampleSentences } from '../../../../support/audio/speech.ts'

/** Fast repeatable noise. */
const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32
}

/** Reads other samples as 16-bit little-endian ones, as the service does. */
const misread = (bytes: Buffer): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer)

const asFloats = (samples: Int16Array, fullScale = 1): Int16Array => {
  const floats = Float32Array.from(samples, (sample) => (sample * fullScale) / 32_768)
  return misread(Buffer.from(floats.buffer))
}

const asBigEndian = (samples: Int16Array): Int16Array =>
  misread(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).swap16())

const asBigEndianFloats = (samples: Int16Array): Int16Array => {
  const floats = Float32Array.from(samples, (sample) => sample / 32_768)
  return misread(Buffer.from(floats.buffer).swap32())
}

/** Returns what is found in frames of 100 ms within the first `seconds`. */
const foundIn = (samples: Int16Array, seconds = Infinity): SampleFormat | null => {
  const watch = watchSampleFormat(() => undefined)
  const end = Math.min(samples.length, seconds * SAMPLE_RATE)
  for (let at = 0; at < end; at += 1600) watch.push(samples.subarray(at, Math.min(at + 1600, end)))
  return watch.found()
}

const copyOf = (samples: Int16Array): Int16Array => Int16Array.from(samples)
const amplified = (samples: Int16Array, gain: number): Int16Array =>
  Int16Array.from(samples, (sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))))

/** Five sentences, at full level and much quieter. Each begins with its speech. */
const recordings = async (): Promise<ReadonlyArray<Int16Array>> => {
  const spoken = (await sampleSentences()).slice(0, 5).map(({ samples }) => copyOf(samples.subarray(0.2 * SAMPLE_RATE)))
  return spoken.flatMap((samples) => [samples, amplified(samples, 0.05)])
}

test('floats and big-endian samples are found in the first second, in 20 of 20 inputs', async (t) => {
  const inputs = await recordings()
  t.is(inputs.length, 10)
  for (const samples of inputs) {
    t.is(foundIn(asFloats(samples), 1), 'float32')
    t.is(foundIn(asBigEndian(samples), 1), 'big_endian')
    t.is(foundIn(asFloats(samples, 32_768), 1), 'float32', 'floats that are whole numbers')
    t.is(foundIn(asBigEndianFloats(samples), 1), 'float32', 'floats of the other byte order')
  }
})

test('silence at the beginning is left out, and a second of noise leaves the question open', async (t) => {
  const [samples = new Int16Array()] = await recordings()
  const after = (before: Int16Array): Int16Array => Int16Array.from([...before, ...samples])
  t.is(foundIn(asBigEndian(after(new Int16Array(12_345)))), 'big_endian')
  const random = randomOf(7)
  const hiss = Int16Array.from({ length: SAMPLE_RATE }, () => Math.round(20 * (random() - 0.5)))
  t.is(foundIn(asBigEndian(after(hiss))), 'big_endian')
})

test('what is found is told once', async (t) => {
  const [samples = new Int16Array()] = await recordings()
  const told: Array<SampleFormat> = []
  const watch = watchSampleFormat((format) => told.push(format))
  for (let n = 0; n < 3; n += 1) watch.push(asFloats(samples))
  t.deepEqual(told, ['float32'])
})

test('speech of any level raises no alarm', async (t) => {
  for (const samples of await recordings())
    for (const gain of [0.003, 1, 100]) {
      t.is(foundIn(amplified(samples, gain)), null)
      t.is(foundIn(amplified(samples, gain).map((sample) => sample + 15_000)), null, 'with an offset')
      t.is(foundIn(amplified(samples, gain).map((sample) => sample & ~0xff)), null, 'of 8 bits')
    }
})

test('silence, noise, tones, clicks and hum of any level raise no alarm', (t) => {
  const random = randomOf(42)
  const of = (level: number, wave: (index: number) => number): Int16Array =>
    Int16Array.from({ length: SAMPLE_RATE }, (_, index) => Math.round(level * wave(index)))
  let [before, slow] = [0, 0]
  const white = (): number => 2 * random() - 1
  const blue = (): number => {
    const now = white()
    const difference = (now - before) / 2
    before = now
    return difference
  }
  const brown = (): number => (slow = 0.99 * slow + 0.1 * white())
  for (const level of [0, 1, 5, 100, 1000, 16_000, 32_000]) {
    for (const wave of [white, blue, brown, (index: number) => (index % 400 === 0 ? 1 : 0), (n: number) => (-1) ** n])
      t.is(foundIn(of(level, wave)), null, `${level}`)
    for (let hertz = 50; hertz < 8000; hertz += 650) {
      const tone = (index: number): number => Math.sin((2 * Math.PI * hertz * index) / SAMPLE_RATE)
      t.is(foundIn(of(level, tone)), null, `${hertz} Hz`)
      t.is(foundIn(of(level, (index) => Math.sign(tone(index)))), null, `${hertz} Hz, square`)
    }
  }
})
