import test from 'ava'
import { fuzzAudioMessages, fuzzDescriptions, fuzzRtsp, fuzzStrayBytes } from '../../../support/sources/stream-fuzz.ts'

const RUNS = 300

test('RTMP: random audio messages are parsed or refused', (t) => {
  t.notThrows(() => fuzzAudioMessages(RUNS))
})

test('RTSP: random descriptions are parsed', (t) => {
  t.notThrows(() => fuzzDescriptions(RUNS))
})

test('RTSP: random bytes between packets lose no packet', (t) => t.notThrowsAsync(fuzzStrayBytes(RUNS)))

test('RTSP: random bytes of a server end the connection with a known code', (t) => t.notThrowsAsync(fuzzRtsp(RUNS)))
