import fc from 'fast-check'
import test from 'ava'
import { createAudioBuffer } from '../../../../../application/pipeline/speech/audio-buffer.ts'

/** Lengths around the smallest capacity of the buffer, so that it moves its content, grows and shrinks. */
const length = fc.integer({ min: 0, max: 20_000 })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ push: length }) },
  { weight: 4, arbitrary: fc.record({ keep: length }) },
  { weight: 1, arbitrary: fc.constant({ clear: true as const }) },
)

test('the buffer returns the same samples as a list of all samples', (t) => {
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const buffer = createAudioBuffer()
    const all: Array<number> = []
    let from = 0
    for (const taken of steps) {
      if ('push' in taken) {
        const samples = Int16Array.from({ length: taken.push }, (_, index) => (all.length + index) % 30_011)
        buffer.push(samples)
        for (const sample of samples) all.push(sample)
      } else if ('keep' in taken) {
        from = Math.max(from, all.length - taken.keep)
        buffer.dropBefore(from)
      } else {
        from = all.length
        buffer.clear()
      }
      t.is(buffer.end(), all.length)
      t.deepEqual(Array.from(buffer.slice(0, all.length)), all.slice(from))
    }
  }), { numRuns: 60 })
})

test('a slice keeps its samples when the buffer goes on', (t) => {
  const buffer = createAudioBuffer()
  buffer.push(Int16Array.of(1, 2, 3))
  const slice = buffer.slice(0, 3)
  buffer.dropBefore(3)
  for (let pushed = 0; pushed < 20; pushed += 1) {
    buffer.push(new Int16Array(1600))
    buffer.dropBefore(buffer.end())
  }
  t.deepEqual(Array.from(slice), [1, 2, 3])
})
