import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { passwordOf } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'
import { sampleSentences } from '../../../support/audio/speech.ts'
import { wavOf } from '../../../support/audio/wav.ts'

const service = sharedTestService()

test('the example of the README prints captions', async (t) => {
  await service.user('reader')
  const [sentence] = await sampleSentences()
  const file = join(service.dataDirectory, 'speech.wav')
  await writeFile(file, wavOf(sentence?.samples ?? new Int16Array(), 16_000))
  const { stdout } = await promisify(execFile)(process.execPath, [
    'docs/examples/first-caption.mjs',
    service.url(),
    'reader',
    passwordOf('reader'),
    file,
  ])
  t.regex(stdout, /^… /m)
  t.regex(stdout, /^= .*meeting/m)
})
