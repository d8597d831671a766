import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { connectionFrame, errorFrame, transcriptFrame } from '../../../interfaces/ws/frames.ts'
import { decodeBase64, decodeConfig, decodePcm, MAX_AUDIO_BYTES, parseFrame } from '../../../interfaces/ws/protocol.ts'

const decodeAudio = (body: object): E.Either<string, Int16Array> => E.chain(decodePcm)(decodeBase64(body))

test('samples survive base64 encoding unchanged', (t) => {
  fc.assert(
    fc.property(fc.int16Array({ maxLength: 500 }), (samples) => {
      const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
      t.deepEqual(decodeAudio({ data: bytes.toString('base64') }), E.right(samples))
    }),
  )
})

test('only canonical base64 with whole samples is accepted', (t) => {
  const alphabet = fc.constantFrom(...Array.from('ABgw019+/=-_ \n'))
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 12 }).map((letters) => letters.join('')), (data) => {
      const bytes = Buffer.from(data, 'base64')
      const isCanonical = bytes.toString('base64') === data && bytes.length % 2 === 0
      t.is(E.isRight(decodeAudio({ data })), isCanonical, data)
    }),
    { numRuns: 2000 },
  )
})

for (const [flaw, data] of [
  ['spaces', 'AA AA AA='],
  ['a line break', 'AAAA\nAAAAAAA'],
  ['the URL alphabet', '_-_-_-_-'],
  ['no padding', 'AAA'],
  ['a data: prefix', 'data:audio/wav;base64,AAAA'],
  ['padding in the middle', 'AA==AAAA'],
  ['leftover bits', 'AAB='],
  ['an odd number of bytes', 'AAAA'],
  ['a number', 12],
  ['null', null],
  ['nothing', undefined],
  ['too many bytes', Buffer.alloc(MAX_AUDIO_BYTES + 2).toString('base64')],
] as const) {
  test(`audio with ${flaw} is invalid`, (t) => {
    t.true(E.isLeft(decodeAudio({ data })))
  })
}

test('10 s of audio are accepted, and an empty string holds no samples', (t) => {
  t.is(
    E.getOrElseW(() => null)(decodeAudio({ data: Buffer.alloc(MAX_AUDIO_BYTES).toString('base64') }))?.length,
    160_000,
  )
  t.deepEqual(decodeAudio({ data: '' }), E.right(new Int16Array(0)))
})

test('binary PCM may start at any byte offset; an odd or too large number of bytes is invalid', (t) => {
  const bytes = Uint8Array.from([9, 1, 0, 255, 255])
  t.deepEqual(decodePcm(bytes.subarray(1)), E.right(Int16Array.from([1, -1])))
  t.true(E.isLeft(decodePcm(bytes)))
  t.true(E.isLeft(decodePcm(new Uint8Array(MAX_AUDIO_BYTES + 2))))
})

for (const text of [
  '',
  '{',
  'null',
  '[]',
  '"config"',
  '7',
  '{}',
  '{"type":7}',
  '{"type":"finish"}',
  '{"type":"toString"}',
  '{"type":["config"]}',
]) {
  test(`${text === '' ? 'an empty frame' : text} is an invalid message`, (t) => {
    t.deepEqual(parseFrame(text), E.left('invalid_message'))
  })
}

test('the parser never throws', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      const frame = parseFrame(text)
      t.true(E.isLeft(frame) || typeof frame.right.body === 'object')
    }),
  )
})

test('a config accepts engine settings within bounds, ignores unknown members and refuses bad values', (t) => {
  t.deepEqual(
    decodeConfig({ type: 'config', min_buffer: 0.5, mode: 'final', colour: 'red', __proto__: null }),
    E.right({ settings: { min_buffer: 0.5, mode: 'final' }, vocabulary: {} }),
  )
  t.deepEqual(decodeConfig({}), E.right({ settings: {}, vocabulary: {} }))
  for (const bad of [
    '{"min_buffer":0}',
    '{"max_buffer":1e999}',
    '{"max_chars":1.5}',
    '{"max_lines":"2"}',
    '{"vad":1}',
    '{"mode":"fast"}',
  ]) {
    t.deepEqual(decodeConfig(JSON.parse(bad)), E.left('invalid_config'), bad)
  }
  t.deepEqual(
    decodeConfig({ max_lines: null, max_chars: 42, vad: null }),
    E.right({ settings: { max_chars: 42 }, vocabulary: {} }),
    'null equals an omitted member',
  )
})

test('the connection message has its members in the documented order', (t) => {
  t.is(
    connectionFrame('sender', 7, 'pending'),
    '{"type":"connection","status":"connected","role":"sender","session_id":7,"state":"pending"}',
  )
})

test('a transcription has its members in the documented order and times rounded to milliseconds', (t) => {
  const frame = {
    kind: 'transcription',
    segment: 1,
    final: true,
    start: 0,
    end: 2.40049,
    text: 'Hello',
    language: 'en',
  } as const
  t.is(
    transcriptFrame(frame, false),
    '{"type":"transcription","start":0,"end":2.4,"text":"Hello","language":"en","segment":1,"final":true}',
  )
  t.is(
    transcriptFrame(frame, true),
    '{"type":"transcription","start":0,"end":2.4,"text":"Hello","language":"en"}',
    'COMPAT_STRICT leaves five members',
  )
})

test('a final ends with its words, except with COMPAT_STRICT', (t) => {
  const words = [{ start: 0, end: 0.4, text: 'Hello', confidence: 0.9 }]
  const frame = {
    kind: 'transcription',
    segment: 1,
    final: true,
    start: 0,
    end: 0.4,
    text: 'Hello',
    language: 'en',
    words,
  } as const
  t.deepEqual(JSON.parse(transcriptFrame(frame, false)), {
    type: 'transcription', start: 0, end: 0.4, text: 'Hello', language: 'en', segment: 1, final: true, words,
  })
  t.is(transcriptFrame(frame, true), '{"type":"transcription","start":0,"end":0.4,"text":"Hello","language":"en"}')
})

test('a translation differs from a transcription only in type and language', (t) => {
  const frame = {
    kind: 'translation',
    segment: 1,
    final: true,
    start: 0,
    end: 2.4,
    text: 'Bonjour',
    language: 'fr',
  } as const
  t.is(
    transcriptFrame(frame, false),
    '{"type":"translation","start":0,"end":2.4,"text":"Bonjour","language":"fr","segment":1,"final":true}',
  )
})

test('an error frame has type, code and detail', (t) => {
  t.deepEqual(Object.keys(JSON.parse(errorFrame('config_required'))), ['type', 'code', 'detail'])
})
