import test from 'ava'
import { hearsNoText } from '../../support/audio/no-text.ts'

test('a minute of silence, noise and tones gives no transcription frame [R155]', (t) => hearsNoText(t, 60))
