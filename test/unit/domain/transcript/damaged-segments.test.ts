import test from 'ava'
import { withDamagedSegments } from '../../../../domain/transcript/damaged-segments.ts'
import type { TranscriptSegment } from '../../../../domain/transcript/subtitles.ts'

const said = (segment: number): TranscriptSegment => ({
  liveId: 1, segment, start: 10 * segment, end: 10 * segment + 5, text: 'said', kind: 'transcription', language: 'en',
})
const translated = (segment: number, language: string): TranscriptSegment =>
  ({ ...said(segment), kind: 'translation', language })

const read = (...stored: ReadonlyArray<TranscriptSegment | null>): ReadonlyArray<string> =>
  withDamagedSegments(stored, 1, { language: 'en', translations: ['es', 'fr'] })
    .map(({ segment, language, start, end, damaged }) => `${segment} ${language} ${start}-${end}${damaged ? ' !' : ''}`)

test('a damaged event is the missing segment of speech, in the gap between its neighbours', (t) => {
  t.deepEqual(read(said(1), null, said(3)), ['1 en 10-15', '2 en 15-30 !', '3 en 30-35'])
  t.deepEqual(read(null, said(2)), ['1 en 0-20 !', '2 en 20-25'])
  t.deepEqual(read(said(1), null), ['1 en 10-15', '2 en 15-15 !'])
})

test('a damaged event between complete speech is a translation that is missing, or no text', (t) => {
  const complete = [said(1), translated(1, 'es'), translated(1, 'fr'), null, said(2)]
  t.deepEqual(read(...complete), ['1 en 10-15', '1 es 10-15', '1 fr 10-15', '2 en 20-25'])
  const lacking = [said(1), null, translated(1, 'fr'), said(2)]
  t.deepEqual(read(...lacking), ['1 en 10-15', '1 es 10-15 !', '1 fr 10-15', '2 en 20-25'])
})
