import test from 'ava'
import type { TranscriptFrame } from '../../../../../domain/transcript/frame.ts'
import { createSentFinals } from '../../../../../application/running/relay/sent-finals.ts'

const final = (segment: number, text: string): TranscriptFrame =>
  ({ kind: 'transcription', segment, final: true, start: segment, end: segment + 1, text, language: 'en' })
const translation = (segment: number): TranscriptFrame => ({
  ...final(segment, 'traducido'),
  kind: 'translation',
  language: 'es',
})
// A stored final is due when the listeners of a process must still receive it. Older finals are past.

const inTerm = (term: number) => (): number => term

test('if the log has none of the sent finals, the first new segment and everything after it are due', (t) => {
  const sentFinals = createSentFinals()
  // A worker sent this final but could never store it.
  sentFinals.begin([final(5, 'lost')], 1, true)
  const stored = [translation(3), final(4, 'before'), final(5, 'again'), translation(4), final(6, 'new')]
  t.deepEqual(sentFinals.unsent(stored, inTerm(1)), [final(5, 'again'), translation(4), final(6, 'new')])
})

test('finals of a later term are due unless the same text was sent; finals of an earlier term are past', (t) => {
  const sentFinals = createSentFinals()
  sentFinals.begin([final(5, 'lost'), final(6, 'lost')], 2, true)
  const [past, late, again] = [translation(3), translation(4), final(5, 'lost')]
  const termOf = (frame: TranscriptFrame): number => (frame === past ? 1 : 3)
  t.deepEqual(
    sentFinals.unsent([past, late, again], termOf),
    [late],
    'a repeated final with the same text was already sent',
  )
  t.true(sentFinals.has(again))
})

test('within one term the past ends with the last sent final', (t) => {
  const sentFinals = createSentFinals()
  sentFinals.begin([final(4, 'past'), final(5, 'past')], 1, true)
  const stored = [final(4, 'past'), translation(3), final(5, 'past'), translation(4), final(6, 'new')]
  t.deepEqual(sentFinals.unsent(stored, inTerm(1)), [translation(4), final(6, 'new')])
})

test('the log is read from far enough back to find late translations of sent text', (t) => {
  const sentFinals = createSentFinals()
  sentFinals.begin([final(250, 'past')], 1, true)
  t.is(sentFinals.readFromSegment(), 50)
  for (let segment = 251; segment < 500; segment += 1) sentFinals.add(final(segment, 'new'))
  t.is(sentFinals.readFromSegment(), 299, 'always 200 segments back')
})
