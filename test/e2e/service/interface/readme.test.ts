import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { passwordOf, startTestService } from '../../../support/service/service.ts'
import { sampleSentences } from '../../../support/audio/speech.ts'

/** Returns a WAV file (16 bits, 16 kHz, mono) with the shortest header, which has 44 bytes. */
const wavOf = (samples: Int16Array): Buffer => {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(16_000, 24)
  header.writeUInt32LE(32_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)])
}

test('the example of the README prints captions', async (t) => {
  const service = await startTestService(t)
  await service.user('ada')
  const [sentence] = await sampleSentences()
  const file = join(service.dataDirectory, 'speech.wav')
  await writeFile(file, wavOf(sentence?.samples ?? new Int16Array()))
  const { stdout } = await promisify(execFile)(process.execPath, [
    'docs/examples/first-caption.mjs',
    service.url(),
    'ada',
    passwordOf('ada'),
    file,
  ])
  t.regex(stdout, /^… /m)
  t.regex(stdout, /^= .*meeting/m)
})
