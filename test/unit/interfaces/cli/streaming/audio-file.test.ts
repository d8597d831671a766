import test from 'ava'
import { readAudioFile } from '../../../../../interfaces/cli/streaming/audio-file.ts'

test('a FLAC file is read as 16 kHz mono', async (t) => {
  const samples = await readAudioFile('interfaces/cli/streaming/demo/sample.flac')
  t.is(Math.round(samples.length / 16000), 55)
  t.true(samples.some((sample) => Math.abs(sample) > 10_000))
})

test('an unreadable or missing file is named in the error', async (t) => {
  await t.throwsAsync(readAudioFile('package.json'), { message: /cannot read package\.json as audio/ })
  await t.throwsAsync(readAudioFile('no-such-file.wav'), { message: 'There is no file no-such-file.wav.' })
})
