import test from 'ava'
import fc from 'fast-check'
import { createPieceReader, pieceOf, type TimedPcm } from '../../../../../infrastructure/sources/decoder/timed-pcm.ts'

const RATE = 16_000
const pcmOf = (samples: number, value = 1): Buffer => Buffer.alloc(samples * 2, value)

const readAll = (bytes: Buffer, step: number): ReadonlyArray<TimedPcm> => {
  const read = createPieceReader()
  return Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
    read(bytes.subarray(i * step, (i + 1) * step)),
  ).flat()
}

test('pieces leave the pipe as they entered it, for any chunk size', (t) => {
  const time = fc.option(fc.integer({ min: -100, max: 100 }))
  const piece = fc.record({ samples: fc.integer({ min: 1, max: 300 }), time })
  fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 999 }), (pieces, step) => {
    const sent = pieces.map(({ samples, time }, index) => ({ pcm: pcmOf(samples, index + 1), time }))
    const received = readAll(Buffer.concat(sent.map(pieceOf)), step)
    t.deepEqual(Buffer.concat(received.map(({ pcm }) => pcm)), Buffer.concat(sent.map(({ pcm }) => pcm)))
  }))
})

test('consecutive pieces are merged; a jump in time begins a new piece', (t) => {
  const times = [[RATE, 7], [320, 8.001], [5, null], [10, 9]] as const
  const sent = times.map(([samples, time]) => pieceOf({ pcm: pcmOf(samples), time }))
  const received = readAll(Buffer.concat(sent), 1 << 20)
  t.deepEqual(received.map(({ pcm, time }) => [pcm.length / 2, time]), [[RATE + 325, 7], [10, 9]])
})

test('data that is not audio is refused before it is buffered', (t) => {
  const read = createPieceReader()
  const head = pieceOf({ pcm: Buffer.alloc(0), time: 1 })
  for (const length of [0xffffffff, 512 * 1024 + 2, 7]) {
    head.writeUInt32LE(length, 8)
    t.throws(() => createPieceReader()(head), { message: /invalid audio piece/ })
  }
  const infinite = Buffer.from([0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 2, 0, 0, 0])
  t.deepEqual(read(Buffer.concat([infinite, pcmOf(1)])), [{ pcm: pcmOf(1), time: null }])
})
