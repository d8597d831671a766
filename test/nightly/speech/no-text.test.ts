import test from 'ava'
import { hearsNoText } from '../../support/audio/no-text.ts'

for (const vad of [true, false])
  test(`ten minutes of silence, noise and tones give no transcription frame, vad ${vad} [R155]`, async (t) => {
    t.timeout(15 * 60_000)
    await hearsNoText(t, 600, vad)
  })
