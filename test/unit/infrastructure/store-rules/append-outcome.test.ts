import test from 'ava'
import { outcomeOfAppend, type StreamState } from '../../../../infrastructure/store-rules/append-outcome.ts'

/** A stream with one event for each id. The revisions before `base` are deleted. */
const streamOf = (ids: string, base = 0): StreamState => ({
  last: ids.length - 1,
  base,
  idAt: (revision) => ids[revision],
})

const append = (from: number) => ({ kind: 'append', from })
const stored = (last: number) => ({ kind: 'stored', last })
const WRONG = { kind: 'wrong-revision' }

test('an append at the expected revision succeeds, at any other revision it is refused', (t) => {
  t.deepEqual(outcomeOfAppend(streamOf('abc'), 2, ['d']), append(3))
  t.deepEqual(outcomeOfAppend(streamOf('abc'), 3, ['d']), WRONG)
  t.deepEqual(outcomeOfAppend(streamOf('abc'), 1, ['d']), WRONG)
  t.deepEqual(outcomeOfAppend(streamOf('abc'), 'no-stream', ['d']), WRONG)
  t.deepEqual(outcomeOfAppend(streamOf('abc'), 'any', ['d']), append(3))
  t.deepEqual(outcomeOfAppend(streamOf(''), -1, ['a']), WRONG)
})

test('a retry gets the answer of the first attempt, wherever its events are now', (t) => {
  t.deepEqual(outcomeOfAppend(streamOf('abcd'), 0, ['b', 'c']), stored(2))
  t.deepEqual(outcomeOfAppend(streamOf('abcd'), 0, ['b', 'x']), WRONG)
  t.deepEqual(outcomeOfAppend(streamOf('abcd'), 2, ['d', 'e']), WRONG)
  t.deepEqual(outcomeOfAppend(streamOf('abcd'), 'no-stream', ['a', 'b']), stored(1))
  t.deepEqual(outcomeOfAppend(streamOf('abcd'), 'any', ['c', 'd']), stored(3))
  t.deepEqual(
    outcomeOfAppend(streamOf('abcd'), 'any', ['b', 'c']),
    append(4),
    'the ids are not the last ids of the stream',
  )
})

test('a deleted stream begins again, and a retry of its new beginning is recognised', (t) => {
  t.deepEqual(outcomeOfAppend(streamOf('abc', 3), 'no-stream', ['d', 'e']), append(3))
  t.deepEqual(outcomeOfAppend(streamOf('abcde', 3), 'no-stream', ['d', 'e']), stored(4))
  t.deepEqual(outcomeOfAppend(streamOf('abcde', 3), 'no-stream', ['f']), WRONG)
})
