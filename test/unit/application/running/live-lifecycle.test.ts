import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { admitSender } from '../../../../application/lives/commands/admit-sender.ts'
import { recordSegment } from '../../../../application/lives/commands/record-segment.ts'
import { startLive } from '../../../../application/lives/change-live.ts'
import { fenceSegments } from '../../../../application/lives/ownership/fence-segments.ts'
import { takeOver } from '../../../../application/lives/ownership/take-over.ts'
import { reservedVram } from '../../../../domain/admission/state.ts'
import { FIRST_TERM } from '../../../../domain/live/events.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { createFailingStore } from '../failing-store.ts'
import { callerOf, createWriteSide, requestOf, writeSideOf } from '../../../support/worlds/write-side.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { right } from '../../../support/tools/right.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

const finished = { status: 'finished', reason: 'finish_message' } as const

const segment = (number: number, text = 'hello', language = 'en') => ({
  liveId: 1, segment: number, start: number, end: number + 1, text, kind: 'transcription' as const, language,
})

test('senders are numbered from 1; the log accepts a sender even if the previous one did not detach', async (t) => {
  const { createLive, lifecycle, typesOf } = await createWriteSide()
  const { id } = right(await createLive(callerOf(1), requestOf()))
  const { live, record } = right(await lifecycle.admitSender(id))
  t.like(live, { term: 1, model: 'm1', language: 'en', audioFormat: 'raw', status: 'pending' })
  t.deepEqual([right(await record()), right(await record())], [1, 1], 'a repeated call records the sender once')
  right(await lifecycle.detachSender(id, 1)())
  t.is(right(await lifecycle.attachSender(id)()), 2)
  t.is(right(await lifecycle.attachSender(id)()), 3)
  t.deepEqual(typesOf('live-1'), [
    'LiveCreated',
    'SenderAttached',
    'SenderDetached',
    'SenderAttached',
    'SenderAttached',
  ])
})

test('a sender is admitted only by the worker that has the session', async (t) => {
  const { createLive, deps, admission } = await createWriteSide()
  const { id } = right(await createLive(callerOf(1), requestOf()))
  const elsewhere = admitSender({ ...deps, worker: { name: 'worker-2', incarnation: null } })
  t.like(await elsewhere(id), { left: { _tag: 'Superseded' } })
  right(
    await admission.send({ command: { type: 'Release', liveId: id }, commandId: 'c', correlationId: 'c', actor: 'a' }),
  )
  t.like(await admitSender(deps)(id), { left: { _tag: 'Superseded' } }, 'no worker has the session')
})

test('an end releases the memory before it answers, and a repeated end changes nothing', async (t) => {
  const { createLive, lifecycle, admission, typesOf } = await createWriteSide()
  const { id } = right(await createLive(callerOf(1), requestOf({ model: 'm4' })))
  right(await lifecycle.startLive(id))
  right(await lifecycle.startLive(id))
  right(await lifecycle.endLive(id, { status: 'error', code: 'engine_failed', detail: 'out of memory' })())
  t.is(reservedVram(admission.state()), 0)
  right(await lifecycle.endLive(id, finished)())
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'LiveStarted', 'LiveFailed'])
  t.is(typesOf('admission').filter((type) => type === 'Released').length, 1)
  for (const answer of [await lifecycle.attachSender(id)(), await lifecycle.startLive(id)])
    t.like(answer, { left: { _tag: 'LiveOver' } })
})

test('a write that is called again, because its answer was lost, is the same write', async (t) => {
  const { createLive, lifecycle, typesOf } = await createWriteSide()
  right(await createLive(callerOf(1), requestOf()))
  const start = lifecycle.startSource(1, { pid: null, sampleOffset: 0, nextSegment: 1, mediaSequence: null })
  right(await start())
  right(await start())
  const end = lifecycle.endLive(1, finished)
  const position = right(await end())
  t.is(right(await end()), position, 'the second answer is that of the first')
  t.deepEqual(typesOf('live-1'), ['LiveCreated', 'SourceStarted', 'LiveFinished'])
})

test('segments are appended in order and encrypted', async (t) => {
  const { createLive, lifecycle, store } = await createWriteSide()
  right(await createLive(callerOf(1), requestOf()))
  await Promise.all([1, 2, 3].map((number) => lifecycle.recordSegment(segment(number, 'the secret text'))))
  const stored = right(await store.read('segments-1'))
  t.deepEqual(stored.map((event) => dataOf(event)['segment']), [1, 2, 3])
  t.notRegex(JSON.stringify(stored), /secret/)
})

test('finals of a running session are stored while the keyring is unavailable', async (t) => {
  const { createLive, deps } = await createWriteSide()
  for (const _ of [1, 2]) right(await createLive(callerOf(1), requestOf()))
  let isReachable = true
  const cutOffDeps = { ...deps, keyring: createMemoryKeyring(() => isReachable) }
  right(await startLive(cutOffDeps)(1, FIRST_TERM))
  isReachable = false
  const record = recordSegment(cutOffDeps)
  right(await record(segment(1)))
  t.like(await record({ ...segment(1), liveId: 2 }), { left: { _tag: 'KeyringUnavailable' } })
})

test('after a kill, pulling continues after the last final transcription', async (t) => {
  const { createLive, lifecycle, deps } = await createWriteSide()
  right(
    await createLive(
      callerOf(1),
      requestOf({ audioFormat: 'hls', audioUrl: 'http://radio.example/live', autoStart: true }),
    ),
  )
  const resumePoint = async () => right(await takeOver(deps)(1, 1)).point
  t.deepEqual(await resumePoint(), { sampleOffset: 0, nextSegment: 1, mediaSequence: null })
  right(await lifecycle.startSource(1, { pid: 7, sampleOffset: 0, nextSegment: 1, mediaSequence: 3 })())
  right(await lifecycle.recordSegment(segment(1)))
  t.deepEqual(
    await resumePoint(),
    { sampleOffset: 32_000, nextSegment: 2, mediaSequence: 3 },
    'a final without a media sequence keeps that of the source',
  )
  right(await lifecycle.recordSegment({ ...segment(2), mediaSequence: 5 }))
  right(await lifecycle.recordSegment({ ...segment(2, 'hola', 'es'), kind: 'translation' }))
  t.deepEqual(await resumePoint(), { sampleOffset: 48_000, nextSegment: 3, mediaSequence: 5 })
})

test('a segment with an unknown append outcome is not written twice', async (t) => {
  const memory = createMemoryEventStore()
  const fates = ['answered', 'lost-answer', 'answered', 'lost-answer', 'lost-answer', 'lost-answer'] as const
  const { store } = createFailingStore(memory, { 'segments-1': fates })
  const { lifecycle } = await createWriteSide({ store })
  right(await lifecycle.recordSegment(segment(1)))
  right(await lifecycle.recordSegment(segment(2)))
  t.like(await lifecycle.recordSegment(segment(3)), { left: { _tag: 'StoreUnavailable' } })
  right(await lifecycle.recordSegment(segment(3)))
  right(await lifecycle.recordSegment(segment(3, 'hola', 'es')))
  const stored = right(await memory.read('segments-1'))
  t.deepEqual(
    stored.map(dataOf).map((data) => `${String(data['segment'])} ${String(data['language'])}`),
    ['1 en', '2 en', '3 en', '3 es'],
  )
})

test('a second writer of the segments in one term is detected', async (t) => {
  const { lifecycle, deps, admission } = await createWriteSide()
  const secondWriter = writeSideOf(deps, admission).lifecycle
  right(await lifecycle.recordSegment(segment(1)))
  right(await secondWriter.recordSegment(segment(2)))
  t.like(await lifecycle.recordSegment(segment(3)), { left: { _tag: 'Contended' } })
})

test('equal segment numbers of two terms are two segments; after a fence no lower term can write', async (t) => {
  const { lifecycle, deps, admission, store } = await createWriteSide()
  const nextWorker = writeSideOf(deps, admission).lifecycle
  right(await lifecycle.recordSegment({ ...segment(1), term: 1 }))
  right(await fenceSegments(deps)({ liveId: 1, worker: 'worker-1', term: 2 }))
  t.like(
    await lifecycle.recordSegment({ ...segment(2), term: 1 }),
    { left: { _tag: 'Contended' } },
    'the first attempt finds another writer',
  )
  t.like(await lifecycle.recordSegment({ ...segment(2), term: 1 }), { left: { _tag: 'Superseded' } })
  right(await nextWorker.recordSegment({ ...segment(1, 'again'), term: 2 }))
  t.like(await nextWorker.recordSegment({ ...segment(2), term: 1 }), { left: { _tag: 'Superseded' } })
  t.like(await fenceSegments(deps)({ liveId: 1, worker: 'worker-2', term: 1 }), { left: { _tag: 'Superseded' } })
  t.is(
    right(await fenceSegments(deps)({ liveId: 1, worker: 'worker-1', term: 2 })).length,
    3,
    'a repeated fence appends nothing',
  )
  t.deepEqual(
    right(await store.read('segments-1')).map(({ type, data }) => [type, (data as { term: number }).term]),
    [
      ['SegmentFinalised', 1],
      ['SegmentsFenced', 2],
      ['SegmentFinalised', 2],
    ],
  )
})

test('a token opens its session; a shared token without an id opens the newest open session', async (t) => {
  const { createLive, lifecycle, project } = await createWriteSide()
  const lives = []
  for (let count = 0; count < 3; count++)
    lives.push(right(await createLive(callerOf(1), requestOf({ listenerToken: 'hall' }))))
  await project()
  const resolve = async (token: string, id: number | null = null) =>
    O.toNullable(right(await lifecycle.resolveToken(token, id, () => true)))
  const sender = lives[1]?.senderToken ?? ''

  t.deepEqual(await resolve(sender), { liveId: 2, role: 'sender', status: 'pending' })
  t.deepEqual(await resolve(sender, 2), { liveId: 2, role: 'sender', status: 'pending' })
  t.is(await resolve(sender, 1), null)
  t.is(await resolve('unknown'), null)
  t.like(await resolve('hall'), { liveId: 3, role: 'listener' })
  t.like(await resolve('hall', 1), { liveId: 1 })

  right(await lifecycle.endLive(3, finished)())
  await project()
  t.deepEqual(await resolve('hall'), { liveId: 2, role: 'listener', status: 'pending' })
  for (const id of [1, 2]) right(await lifecycle.endLive(id, finished)())
  await project()
  t.deepEqual(await resolve('hall'), { liveId: 3, role: 'listener', status: 'finished' })
})
