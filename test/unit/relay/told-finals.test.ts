import test from 'ava'
import type { TranscriptFrame } from '../../../application/pipeline/signals.ts'
import { createSentFinals } from '../../../application/sessions/relay/sent-finals.ts'

const said = (segment: number, text: string): TranscriptFrame =>
  ({ kind: 'transcription', segment, final: true, start: segment, end: segment + 1, text, language: 'en' })
const translated = (segment: number): TranscriptFrame => ({
  ...said(segment, 'traducido'),
  kind: 'translation',
  language: 'es',
})
const inTerm = (term: number) => (): number => term

test('without past text in the log, a late translation is due when it follows a new segment', (t) => {
  const told = createSentFinals()
  // A worker told this and could never store it.
  told.begin([said(5, 'lost')], 1, true)
  const stored = [translated(3), said(4, 'before'), said(5, 'again'), translated(4), said(6, 'new')]
  t.deepEqual(told.unsent(stored, inTerm(1)), [said(5, 'again'), translated(4), said(6, 'new')])
})

test('everything that a worker of a later term stored is due; text of an earlier term is past', (t) => {
  const told = createSentFinals()
  told.begin([said(5, 'lost'), said(6, 'lost')], 2, true)
  const [past, late, again] = [translated(3), translated(4), said(5, 'lost')]
  const termOf = (frame: TranscriptFrame): number => (frame === past ? 1 : 3)
  t.deepEqual(told.unsent([past, late, again], termOf), [late], 'what is said again with the same words was told')
  t.true(told.has(again))
})

test('within its own term the past ends with the last sent line', (t) => {
  const told = createSentFinals()
  told.begin([said(4, 'past'), said(5, 'past')], 1, true)
  const stored = [said(4, 'past'), translated(3), said(5, 'past'), translated(4), said(6, 'new')]
  t.deepEqual(told.unsent(stored, inTerm(1)), [translated(4), said(6, 'new')])
})

test('the log is read from far enough back to find late translations of sent text', (t) => {
  const told = createSentFinals()
  told.begin([said(250, 'past')], 1, true)
  t.is(told.readFromSegment(), 50)
  for (let segment = 251; segment < 500; segment += 1) told.add(said(segment, 'new'))
  t.is(told.readFromSegment(), 299, '200 finals')
})
