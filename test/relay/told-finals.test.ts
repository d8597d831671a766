import test from 'ava'
import type { TranscriptFrame } from '../../application/pipeline/signals.ts'
import { toldFinals } from '../../application/sessions/relay/told-finals.ts'

const said = (segment: number, text: string): TranscriptFrame =>
  ({ kind: 'transcription', segment, final: true, start: segment, end: segment + 1, text, language: 'en' })
const translated = (segment: number): TranscriptFrame => ({ ...said(segment, 'traducido'), kind: 'translation', language: 'es' })

test('where the log holds nothing of the past, a late translation is owed where it stands behind a new segment', (t) => {
  const told = toldFinals()
  // A worker told this and could never store it.
  told.begin([said(5, 'lost')], false)
  const stored = [translated(3), said(4, 'before'), said(5, 'again'), translated(4), said(6, 'new')]
  const owed = [said(5, 'again'), translated(4), said(6, 'new')]
  t.deepEqual(told.missing(stored), owed)
  t.deepEqual(told.owed(stored), owed, 'and of a worker the same')
})
