import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { changeLive } from '../../../../application/lives/change-live.ts'
import { fenceSegments } from '../../../../application/lives/ownership/fence-segments.ts'
import { takeOver } from '../../../../application/lives/ownership/take-over.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const PULLED = { audioFormat: 'hls', audioUrl: 'http://radio.example/live', autoStart: true } as const

const withSession = async (request = requestOf()) => {
  const side = await createWriteSide()
  right(await side.createLive(callerOf(1), request))
  return side
}

test('a worker of a passed term gets no session, even before the next worker fenced its text', async (t) => {
  const { deps } = await withSession()
  right(await changeLive(deps)(1, { type: 'TakeOverLive', worker: 'worker-2', term: 3 }))
  t.deepEqual(await takeOver(deps)(1, 2), E.left({ _tag: 'Superseded' }))
})

test('the log names the worker that takes a session over, and the earlier one', async (t) => {
  const { deps } = await withSession()
  const logger = createRecordingLogger()
  right(await changeLive(deps)(1, { type: 'TakeOverLive', worker: 'worker-2', term: 2 }))
  right(await takeOver({ ...deps, logger })(1, 3))
  right(await takeOver({ ...deps, logger })(1, 3))
  right(await takeOver({ ...deps, logger })(1, 4))
  const line = { liveId: 1, term: 3, from: 'worker-2', to: deps.worker.name }
  t.deepEqual(logger.lines, [{ level: 'info', fields: line, message: 'a session was taken over' }])
})

test('the clock of a source does not go back when its audio had no words', async (t) => {
  const { deps, lifecycle } = await withSession(requestOf(PULLED))
  right(await lifecycle.startSource(1, { pid: 7, sampleOffset: 160_000, nextSegment: 4, mediaSequence: 9 })())
  const { point } = right(await takeOver(deps)(1, 2))
  t.deepEqual(point, { sampleOffset: 160_000, nextSegment: 4, mediaSequence: 9 })
})

test('a transcript whose events were deleted can be fenced', async (t) => {
  const { deps, lifecycle, store } = await withSession()
  const text = { text: 'one', kind: 'transcription', language: 'en' } as const
  right(await lifecycle.recordSegment({ liveId: 1, segment: 1, start: 0, end: 1, ...text }))
  right(await store.deleteStream('segments-1'))
  t.deepEqual(right(await fenceSegments(deps)({ liveId: 1, worker: 'worker-1', term: 2 })), [])
  t.deepEqual(right(await store.read('segments-1')).map(({ type }) => type), ['SegmentsFenced'])
})
