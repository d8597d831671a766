import test from 'ava'
import type { TranscriptFrame } from '../../../../domain/transcript/frame.ts'
import { createRecentFinals } from '../../../../application/running/recent-finals.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'

const frame = (segment: number): TranscriptFrame => ({
  kind: 'transcription',
  segment,
  final: true,
  start: segment,
  end: segment + 1,
  text: `segment ${segment}`,
  language: 'en',
})

const segmentsOf = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<number> =>
  frames.map(({ segment }) => segment)

test('a final that the store refused stays in memory without keeping later finals there', (t) => {
  const finals = createRecentFinals(createManualTimers(), 3).open(1, true)
  for (let segment = 1; segment <= 20; segment += 1) {
    const added = finals.add(frame(segment))
    if (segment % 5 === 2) added.dropped()
    else added.stored()
    added.sent()
  }
  t.deepEqual(segmentsOf(finals.sent()), [2, 7, 12, 17, 18, 19, 20])
  t.deepEqual(segmentsOf(finals.dropped()), [2, 7, 12, 17])
  t.is(finals.search({ kind: 'after', segment: 7 }), null, 'the finals in between are only in the log')
  t.not(finals.search({ kind: 'after', segment: 18 }), null)
})

test('the newest ten thousand refused finals are kept, and all finals that still wait', (t) => {
  const finals = createRecentFinals(createManualTimers(), 3).open(1, true)
  for (let segment = 1; segment <= 5; segment += 1) finals.add(frame(segment)).sent()
  for (let segment = 6; segment <= 10_010; segment += 1) {
    const added = finals.add(frame(segment))
    added.dropped()
    added.sent()
  }
  const kept = segmentsOf(finals.sent())
  t.is(kept.length, 10_005)
  t.deepEqual(kept.slice(0, 7), [1, 2, 3, 4, 5, 11, 12])
})
