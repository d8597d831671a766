import test from 'ava'
import { assertNoText } from '../../support/service/no-text.ts'

for (const vad of [true, false])
  test(`ten minutes of silence, noise and tones give no text with vad ${vad}`, async (t) => {
    t.timeout(15 * 60_000)
    await assertNoText(t, 600, vad)
  })
