import test from 'ava'
import { MissingTrack } from '../../../../../infrastructure/sources/decoder/input.ts'
import { SourceError } from '../../../../../infrastructure/sources/source-error.ts'
import { FLV_HEADER, flvAudioTag } from '../../../../../infrastructure/sources/flv.ts'
import { decoded } from '../../../../support/sources/decoding.ts'
import { matroskaOf } from '../../../../support/sources/matroska.ts'
import { wavOf } from '../../../../support/audio/wav.ts'

const RATE = 16_000

/** Samples that all have one value, so each part of the output tells where it came from. */
const level = (value: number, seconds: number): Buffer =>
  Buffer.from(new Int16Array(seconds * RATE).fill(value).buffer)

const codeOf = (failure: unknown): unknown => (failure instanceof SourceError ? failure.code : failure)

/** Returns the level in the middle of each second. */
const levels = (samples: Int16Array): ReadonlyArray<number | undefined> =>
  Array.from({ length: Math.round(samples.length / RATE) }, (_, second) => samples[(second + 0.5) * RATE])

test('a packet that cannot be decoded is left out, and told once with its time', async (t) => {
  // A block of one byte is no sample of 16 bits.
  const broken = Buffer.from([7])
  const { samples, damages, failure, formats } = await decoded(matroskaOf([{}], [
    { at: 0, bytes: level(1000, 1) }, { at: 1, bytes: broken }, { at: 1.5, bytes: broken },
    { at: 2, bytes: level(2000, 1) },
  ]))
  t.is(failure, null)
  t.deepEqual(levels(samples), [1000, 2000])
  t.deepEqual(damages, [1])
  t.deepEqual(formats, ['matroska,webm pcm_s16le 16000 1'])
})

test('a file of which nothing can be decoded is an error', async (t) => {
  const blocks = Array.from({ length: 300 }, (_, index) => ({ at: index / 10, bytes: Buffer.from([7]) }))
  for (const bytes of [matroskaOf([{}], blocks), wavOf(new Int16Array(0), RATE)])
    t.is(codeOf((await decoded(bytes)).failure), 'no_audio')
})

test('bytes of no known format are not audio', async (t) => {
  t.is(codeOf((await decoded(Buffer.alloc(100_000, 'no sound'))).failure), 'not_audio')
})

test('many broken packets in the middle of a recording do not end it', async (t) => {
  const broken = Array.from({ length: 400 }, (_, index) => ({ at: 1 + index / 400, bytes: Buffer.from([7]) }))
  const blocks = [{ at: 0, bytes: level(1000, 1) }, ...broken, { at: 2, bytes: level(2000, 1) }]
  const { samples, damages } = await decoded(matroskaOf([{}], blocks))
  t.deepEqual(levels(samples), [1000, 2000])
  t.deepEqual(damages, [1])
})

test('the first piece tells where the media begins, which may be before its audio', async (t) => {
  const { pieces } = await decoded(matroskaOf([{}], [{ at: 5, bytes: level(1000, 1) }]))
  t.deepEqual(pieces.slice(0, 2).map(({ pcm, time }) => [pcm.length, time]), [[0, 0], [2 * RATE, 5]])
})

test('the default track is decoded, or the wanted one', async (t) => {
  const tracks = [{ isDefault: false }, { isDefault: true }, { isDefault: false }]
  const blocks = [1, 2, 3].map((track) => ({ track, at: 0, bytes: level(track * 1000, 1) }))
  const file = matroskaOf(tracks, blocks)
  t.deepEqual(levels((await decoded(file)).samples), [2000])
  for (const track of [1, 2, 3]) t.deepEqual(levels((await decoded(file, { track })).samples), [track * 1000])
  const { failure } = await decoded(file, { track: 4 })
  t.true(failure instanceof MissingTrack && failure.message === 'the file has 3 audio tracks')
})

/** An FLV tag of video, with data that nobody looks at. */
const videoTag = (timestamp: number, size: number): Buffer => {
  const tag = flvAudioTag(timestamp, Buffer.concat([Buffer.from([0x14]), Buffer.alloc(size, 1)]))
  tag.writeUInt8(9, 0)
  return tag
}

/** An FLV tag with 16-bit samples at 11,025 Hz. */
const soundTag = (timestamp: number, seconds: number): Buffer =>
  flvAudioTag(timestamp, Buffer.concat([Buffer.from([0x36]), Buffer.alloc(Math.round(11_025 * seconds) * 2, 1)]))

/** The header of FLV with video; it announces no audio. */
const VIDEO_HEADER = Buffer.from(FLV_HEADER)
VIDEO_HEADER.writeUInt8(1, 4)

test('audio that begins after a large picture, or after some seconds, is found', async (t) => {
  for (const [pictures, at] of [[[640_000], 0], [[1000, 1000, 1000], 6]] as const) {
    const video = pictures.map((size, index) => videoTag(index * 2000, size))
    const file = Buffer.concat([VIDEO_HEADER, ...video, soundTag(at * 1000, 1), soundTag(at * 1000 + 1000, 1)])
    const { samples, pieces, failure } = await decoded(file)
    t.is(failure, null)
    t.true(Math.abs(samples.length - 2 * RATE) < 40, `${samples.length} samples`)
    t.deepEqual(pieces.slice(0, 2).map(({ time }) => time), [0, at])
  }
})

test('the search for audio ends after 10 MB or 15 s of media', async (t) => {
  const large = Array.from({ length: 40 }, (_, index) => videoTag(index * 10, 500_000))
  const { failure, taken } = await decoded(Buffer.concat([VIDEO_HEADER, ...large]))
  t.is(codeOf(failure), 'no_audio')
  t.true(taken > 9_900_000 && taken < 11_500_000, `${taken} bytes`)
  const long = Array.from({ length: 30 }, (_, index) => videoTag(index * 1000, 200_000))
  const late = await decoded(Buffer.concat([VIDEO_HEADER, ...long]))
  t.is(codeOf(late.failure), 'no_audio')
  t.true(late.taken > 3_000_000 && late.taken < 4_000_000, `${late.taken} bytes`)
})
