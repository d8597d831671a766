import test from 'ava'
import { createBeginDetector, parseAudioMessage } from '../../../../infrastructure/sources/rtmp/audio-messages.ts'

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')
const bodyOf = (text: string): string | undefined => parseAudioMessage(bytesOf(text))?.body.toString('latin1')

test('enhanced RTMP: parameters and frames keep their form, and other packets contain no audio', (t) => {
  t.deepEqual(parseAudioMessage(bytesOf('\x90OpusOpusHead')), {
    codec: 'Opus',
    parameters: bytesOf('OpusHead'),
    body: bytesOf('\x90OpusOpusHead'),
  })
  t.like(parseAudioMessage(bytesOf('\x91ac-3frame')), { codec: 'ac-3', parameters: null })
  // The end of a sequence, the places of channels, a packet of an unknown type.
  for (const other of ['\x92Opus', '\x94Opus\x01\x02\0\0\0\x03', '\x9eOpus?', '']) t.is(bodyOf(other), undefined)
})

test('enhanced RTMP: modifiers are removed, of several tracks the default track is taken', (t) => {
  t.is(bodyOf('\x97\x02\0\0\x01\x01fLaCframe'), '\x91fLaCframe')
  t.is(bodyOf(`\x97\xff\x01\x00${'x'.repeat(257)}\x07\0y\x01Opusframe`), '\x91Opusframe')
  t.is(bodyOf('\x95\x01Opus\0frame'), '\x91Opusframe')
  t.is(bodyOf('\x95\x01Opus\x01frame'), undefined, 'another track only')
  t.is(bodyOf('\x95\x11mp4a\x01\0\0\x05other\0\0\0\x05frame'), '\x91mp4aframe')
  t.is(bodyOf('\x95\x21ac-3\x01\0\0\x05otherec-3\0\0\0\x05frame'), '\x91ec-3frame')
})

test('enhanced RTMP: messages that are cut off and unknown codecs are refused', (t) => {
  for (const cut of ['\x91Op', '\x97\x02\0', '\x97\xff\0', '\x95', '\x95\x01Op', '\x95\x11Opus\0\0\0\x09frame'])
    t.throws(() => bodyOf(cut), { message: 'bad_answer' }, cut)
  t.throws(() => bodyOf('\x91ac-4frame'), { message: 'unsupported' })
})

test('audio begins at its first message, at another codec and at other parameters', (t) => {
  const begins = createBeginDetector()
  const begun = [
    '\xaf\x01early', '\xaf\0\x14\x08', '\xaf\x01frame', '\xaf\0\x14\x08', '\xaf\0', '\xaf\x01frame', '\xaf\0\x11\x90',
    '\x91Opusframe', '\x90Opushead', '\x91Opusframe', '\x2fmp3', '\x2emp3', '\xaf\0\x11\x90',
  ].map((text) => {
    const message = parseAudioMessage(bytesOf(text))
    return message !== null && begins(message)
  })
  t.deepEqual(
    begun,
    [true, false, false, false, false, false, true, true, false, false, true, false, true],
  )
})
