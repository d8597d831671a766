import test from 'ava'
import { hearsNoText } from '../support/no-text.ts'

test('R155: a minute of silence, noise and tones gives no transcription frame', (t) => hearsNoText(t, 60))
