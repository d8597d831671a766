import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { createAudioInput } from '../../../../interfaces/ws/senders/audio-input.ts'

const SAMPLES = Int16Array.from([1, -2, 3, -4])
const bytesOf = (samples: Int16Array): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
const detailOf = (result: E.Either<string, unknown>): string => (E.isLeft(result) ? result.left : '')

const FOREIGN: ReadonlyArray<readonly [name: string, beginning: Buffer]> = [
  ['WebM', Buffer.from('1a45dfa39f4286810142f7810142f2810442f381', 'hex')],
  ['Ogg', Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0', 'latin1')],
  ['FLAC', Buffer.from('fLaC\0\0\0\x22\x10\0\x10\0', 'latin1')],
  ['MP3', Buffer.from('ID3\x04\0\0\0\0\0\x23', 'latin1')],
  ['MP4', Buffer.from('\0\0\0\x20ftypM4A \0\0\x02\0', 'latin1')],
  ['AIFF', Buffer.from('FORM\0\0\x10\0AIFFCOMM', 'latin1')],
  ['big-endian', Buffer.from('RIFX\0\0\x10\0WAVEfmt ', 'latin1')],
]

for (const [name, beginning] of FOREIGN) {
  test(`${name} is refused by its name, and so is each frame after it`, (t) => {
    for (const isBase64 of [false, true]) {
      const input = createAudioInput()
      const send = (bytes: Buffer) =>
        isBase64 ? input.base64({ data: bytes.toString('base64') }) : input.binary(bytes)
      for (const frame of [beginning, Buffer.alloc(4000, 7), Buffer.alloc(4001)]) {
        const detail = detailOf(send(frame))
        t.true(detail.includes(name), detail)
        t.true(detail.includes('16-bit little-endian mono PCM at 16 kHz'))
      }
    }
  })
}

test('samples that look like another format after the beginning are samples', (t) => {
  const input = createAudioInput()
  t.deepEqual(input.binary(bytesOf(SAMPLES)), E.right(SAMPLES))
  t.true(E.isRight(input.binary(Buffer.from('OggSOggS'))))
})

const chunk = (id: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from(id, 'latin1'), size, content, Buffer.alloc(content.length % 2)])
}

interface Format {
  readonly code?: number
  readonly channels?: number
  readonly rate?: number
  readonly bits?: number
  readonly subformat?: number
}

const formatOf = ({ code = 1, channels = 1, rate = 16_000, bits = 16, subformat }: Format): Buffer => {
  const content = Buffer.alloc(subformat === undefined ? 16 : 40)
  content.writeUInt16LE(code, 0)
  content.writeUInt16LE(channels, 2)
  content.writeUInt32LE(rate, 4)
  content.writeUInt16LE(bits, 14)
  if (subformat !== undefined) content.writeUInt16LE(subformat, 24)
  return chunk('fmt ', content)
}

/** `size`: the size of the samples that the header claims. */
const waveOf = (format: Format, before: ReadonlyArray<Buffer> = [], size = SAMPLES.byteLength): Buffer => {
  const data = chunk('data', bytesOf(SAMPLES))
  data.writeUInt32LE(size, 4)
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...before, formatOf(format), data])
}

const WANTED_FILES: ReadonlyArray<readonly [string, Buffer]> = [
  ['a plain header', waveOf({})],
  ['an extensible header', waveOf({ code: 0xfffe, subformat: 1 })],
  ['other chunks before the samples', waveOf({}, [chunk('JUNK', Buffer.alloc(27)), chunk('bext', Buffer.alloc(602))])],
  ['an unknown size', waveOf({}, [], 0xffffffff)],
  ['a size of zero', waveOf({}, [], 0)],
]

for (const [kind, file] of WANTED_FILES) {
  test(`a WAVE file with ${kind} is heard without its header, in frames of any size`, (t) => {
    fc.assert(fc.property(fc.integer({ min: 6, max: file.length / 2 }), (half) => {
      const input = createAudioInput()
      const heard: Array<number> = []
      for (let at = 0; at < file.length; at += 2 * half) {
        const samples = input.binary(file.subarray(at, at + 2 * half))
        if (E.isRight(samples)) heard.push(...samples.right)
      }
      t.deepEqual(heard, [...SAMPLES])
      return true
    }), { numRuns: 30 })
  })
}

test('each frame may be a WAVE file of its own', (t) => {
  const input = createAudioInput()
  for (let n = 0; n < 3; n += 1) t.deepEqual(input.binary(waveOf({})), E.right(SAMPLES))
})

const OTHER_FILES: ReadonlyArray<readonly [Format, string]> = [
  [{ rate: 48_000 }, 'WAVE of 16-bit PCM at 48000 Hz with 1 channel:'],
  [{ channels: 2, rate: 44_100 }, 'WAVE of 16-bit PCM at 44100 Hz with 2 channels:'],
  [{ code: 3, bits: 32 }, 'WAVE of 32-bit float at 16000 Hz with 1 channel:'],
  [{ code: 0xfffe, subformat: 3, bits: 32 }, 'WAVE of 32-bit float at 16000 Hz with 1 channel:'],
  [{ bits: 24 }, 'WAVE of 24-bit PCM at 16000 Hz with 1 channel:'],
  [{ code: 7, bits: 8, rate: 8000 }, 'WAVE of 8-bit µ-law at 8000 Hz with 1 channel:'],
  [{ code: 0x2000 }, 'WAVE of 16-bit format 8192 at 16000 Hz with 1 channel:'],
]

test('a WAVE file of other samples is refused with their format, and so is each frame after it', (t) => {
  for (const [format, name] of OTHER_FILES) {
    const input = createAudioInput()
    for (const frame of [waveOf(format), bytesOf(SAMPLES)]) t.true(detailOf(input.binary(frame)).includes(name), name)
  }
})

test('a WAVE file without a format or without samples is refused', (t) => {
  const noFormat = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('data', bytesOf(SAMPLES))])
  t.regex(detailOf(createAudioInput().binary(noFormat)), /without a format/)
  const shortFormat = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('fmt ', Buffer.alloc(4))])
  t.regex(detailOf(createAudioInput().binary(shortFormat)), /without a format/)
  const input = createAudioInput()
  const long = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), chunk('LIST', Buffer.alloc(400_000))])
  const details = [0, 1, 2].map((n) => detailOf(input.binary(long.subarray(n * 200_000, (n + 1) * 200_000))))
  t.regex(details[1] ?? '', /begin too late/)
  t.regex(details[2] ?? '', /begin too late/)
})

test('a frame with a defect is refused with a sentence that says which', (t) => {
  const input = createAudioInput()
  t.regex(detailOf(input.binary(Buffer.alloc(3))), /3 bytes.*even/)
  t.regex(detailOf(input.binary(Buffer.alloc(320_002))), /320002 bytes.*320000.*10 seconds/)
  t.regex(detailOf(input.base64({})), /no text in `data`/)
  t.regex(detailOf(input.base64({ data: 'AA A' })), /not base64/)
  t.regex(detailOf(input.base64({ data: 'AAAA' })), /3 bytes.*even/)
  t.regex(detailOf(input.base64({ data: 'A'.repeat(500_000) })), /500000 characters.*10 seconds/)
  t.deepEqual(input.binary(bytesOf(SAMPLES)), E.right(SAMPLES), 'the next frame is heard')
})

test('whatever arrives is samples or a sentence, and never an exception', (t) => {
  const beginnings = [...FOREIGN.map(([, bytes]) => bytes), ...WANTED_FILES.map(([, file]) => file), Buffer.alloc(0)]
  const beginning = fc.constantFrom(...beginnings).chain((bytes) =>
    fc.integer({ min: 0, max: bytes.length }).map((length) => bytes.subarray(0, length)))
  fc.assert(fc.property(beginning, fc.array(fc.uint8Array({ maxLength: 60 })), (first, frames) => {
    const input = createAudioInput()
    for (const frame of [first, ...frames]) {
      const result = input.binary(frame)
      if (E.isLeft(result)) t.not(result.left, '')
      else t.true(result.right instanceof Int16Array)
    }
  }), { numRuns: 2000 })
})
