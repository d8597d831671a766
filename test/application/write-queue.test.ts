import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createWriteQueue } from '../../application/sessions/write-queue.ts'
import { eventually } from '../support/eventually.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'

test('a segment that cannot be written because of a defect does not keep its live from ending', async (t) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const closing = new AbortController()
  const queue = createWriteQueue({ liveId: 7, logger, timers, environment: { random: () => 0.5 }, signal: closing.signal, track: () => undefined })
  let ends = 0
  const segment = queue.add('segment', async () => { throw new Error('a misfit') })
  const end = queue.add('end', async () => {
    ends += 1
    // An end is never given up: without it the memory of its live would be lost until the next start.
    if (ends < 6) throw new Error('not yet')
    return E.right(undefined)
  })
  await eventually(() => {
    timers.advance(5000)
    assert.equal(queue.size(), 0)
  })
  await Promise.all([segment, end])
  t.is(ends, 6)
  t.is(logger.lines.filter(({ fields }) => fields['write'] === 'segment' && fields['hopeless'] === true).length, 1)
})
