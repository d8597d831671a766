import test from 'ava'
import { assertNoText } from '../../../support/service/no-text.ts'

test('a minute of silence, noise and tones produces no transcription frame', (t) => assertNoText(t, 60))
