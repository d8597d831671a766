import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../../../domain/live/decider.ts'
import { finishReason, type FinishReason, type LiveEvent } from '../../../../domain/live/events.ts'
import { fold } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import {
  aborted,
  at,
  attached,
  autoStarted,
  commands,
  common,
  created,
  deleted,
  detached,
  earlier,
  failed,
  finished,
  source,
  started,
  takenOver,
} from './live-samples.ts'
import { after } from '../../../support/events/sample-events.ts'

/** The command that `created` records. */
const create = { type: 'CreateLive', data: created.data, at: created.data.at } as const

test('creating a session records the request', (t) => {
  specify(t, liveDecider).given().when(create).thenEvents(created)
})

test('the history shows the members of a create in an order that stays', (t) => {
  const decided = liveDecider.decide(create, liveDecider.initialState)
  const members = E.isRight(decided) ? decided.right.flatMap((event) => Object.keys(event.data)) : []
  t.deepEqual(members.slice(0, 6), ['liveId', 'commandId', 'worker', 'userId', 'at', 'model'])
})

test('repeating a create changes nothing, even after the end of the session', (t) => {
  specify(t, liveDecider).given(created, finished).when(create).thenNothing()
})

test('a create is always refused once its session was fenced (LiveAborted)', (t) => {
  specify(t, liveDecider)
    .given(aborted)
    .when(create)
    .thenRefused({ _tag: 'LiveOver' })
})

test('a deletion records how the session ended; a running session finishes in the same decision', (t) => {
  const { given } = specify(t, liveDecider)
  const deletedAfter = (lastStatus: 'finished' | 'error'): LiveEvent => ({
    type: 'LiveDeleted',
    data: { ...common, lastStatus },
  })
  given(created, started)
    .when(commands.remove)
    .thenEvents({ type: 'LiveFinished', data: { ...common, reason: 'deleted' } }, deletedAfter('finished'))
  given(created, started, finished).when(commands.remove).thenEvents(deletedAfter('finished'))
  given(created, started, failed).when(commands.remove).thenEvents(deletedAfter('error'))
  t.deepEqual(fold(liveDecider, [created, finished, deleted]), { status: 'deleted' }, 'the state keeps only the status')
})

test('a pending session without a sender ends PENDING_TIMEOUT after its creation or its last sender', (t) => {
  const { given } = specify(t, liveDecider)
  const expireAt = (ms: number, limits: object = {}) => ({
    ...commands.expire,
    pendingTimeout: 5000,
    maxDuration: 0,
    ...limits,
    now: Date.parse(after(ms)),
    at: after(ms),
  })
  const timedOut = (ms: number): LiveEvent => ({
    type: 'LiveFinished',
    data: { ...common, at: after(ms), reason: 'pending_timeout' },
  })
  given(created).when(expireAt(4999)).thenNothing()
  given(created).when(expireAt(5000)).thenEvents(timedOut(5000))
  given(created)
    .when(expireAt(1e9, { pendingTimeout: 0 }))
    .thenNothing()
  given(created, attached(1)).when(expireAt(1e9)).thenNothing()
  given(created, attached(1), detached(1)).when(expireAt(5999)).thenNothing()
  given(created, attached(1), detached(1)).when(expireAt(6000)).thenEvents(timedOut(6000))
  given(created, attached(1), takenOver(2)).when(expireAt(5999)).thenNothing()
  given(created, attached(1), takenOver(2)).when(expireAt(6000)).thenEvents(timedOut(6000))
  given(created, takenOver(2)).when(expireAt(5000)).thenEvents(timedOut(5000))
  given(created, started).when(expireAt(1e9)).thenNothing()
})

test('a session ends MAX_DURATION after its start; with a silent sender, after the sender attached', (t) => {
  const { given } = specify(t, liveDecider)
  const expireAt = (ms: number, maxDuration = 5000) => ({
    ...commands.expire,
    pendingTimeout: 0,
    maxDuration,
    now: Date.parse(after(ms)),
    at: after(ms),
  })
  const tooLong = (ms: number): LiveEvent => ({
    type: 'LiveFinished',
    data: { ...common, at: after(ms), reason: 'max_duration' },
  })
  given(created, attached(1), started).when(expireAt(5999)).thenNothing()
  given(created, attached(1), started).when(expireAt(6000)).thenEvents(tooLong(6000))
  given(created, attached(1), started).when(expireAt(1e9, 0)).thenNothing()
  given(created, attached(1)).when(expireAt(6000)).thenEvents(tooLong(6000))
  given(created).when(expireAt(1e9)).thenNothing()
  given(autoStarted, { type: 'SourceStarted', data: { ...earlier, ...source } }, started)
    .when(expireAt(6000))
    .thenEvents(tooLong(6000))
})

test('the first sender gets epoch 1, the next sender epoch 2', (t) => {
  const { given } = specify(t, liveDecider)
  given(created)
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...common, epoch: 1, instance: 'a', term: 1 } })
  given(created, attached(1), detached(1))
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...common, epoch: 2, instance: 'a', term: 1 } })
})

test('a sender can attach although the log still names an earlier sender that never detached', (t) => {
  specify(t, liveDecider)
    .given(created, attached(1))
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...common, epoch: 2, instance: 'a', term: 1 } })
})

test('a worker takes a session over once; the sender of the previous term is detached', (t) => {
  const { given } = specify(t, liveDecider)
  given(created, attached(1), started)
    .when(commands.takeOver)
    .thenEvents({ type: 'LiveTakenOver', data: { ...common, worker: 'gpu-1', term: 2 } })
  given(created, takenOver(2)).when(commands.takeOver).thenNothing()
  given(created, takenOver(3)).when(commands.takeOver).thenRefused({ _tag: 'Superseded' })
  t.like(fold(liveDecider, [created, attached(1), takenOver(2)]), { term: 2, sender: null, senderAt: earlier.at })
  t.like(fold(liveDecider, [created, takenOver(2)]), { term: 2, senderAt: null })
})

for (const name of ['attach', 'detach', 'startSource', 'start', 'fail'] as const)
  test(`${name} with an outdated term is refused, with the current term it is accepted`, (t) => {
    const given = fold(liveDecider, [created, takenOver(2), attached(1, 2)])
    t.deepEqual(liveDecider.decide(commands[name], given), E.left({ _tag: 'Superseded' }))
    t.true(E.isRight(liveDecider.decide({ ...commands[name], term: 2 }, given)))
  })

test('a command without a term ends a session in any term', (t) => {
  const finishedByRoute: LiveEvent = { type: 'LiveFinished', data: { ...common, reason: 'finish_route' } }
  specify(t, liveDecider).given(created, takenOver(2)).when(commands.finish).thenEvents(finishedByRoute)
  specify(t, liveDecider)
    .given(created, takenOver(2))
    .when({ type: 'EndLiveInTerm', cause: commands.finish.cause, term: 1, at })
    .thenRefused({ _tag: 'Superseded' })
})

test('detaching a replaced sender changes nothing', (t) => {
  const { given } = specify(t, liveDecider)
  given(created, attached(1), attached(2)).when(commands.detach).thenNothing()
  const detached: LiveEvent = { type: 'SenderDetached', data: { ...common, epoch: 1 } }
  given(created, attached(1), attached(2), detached)
    .when({ ...commands.detach, epoch: 2 })
    .thenEvents({ type: 'SenderDetached', data: { ...common, epoch: 2 } })
})

test('an auto-started session becomes active when its source process has a pid', (t) => {
  const { given } = specify(t, liveDecider)
  const sourceStarted: LiveEvent = { type: 'SourceStarted', data: { ...common, ...source } }
  given(autoStarted).when(commands.startSource).thenEvents(sourceStarted, { type: 'LiveStarted', data: common })
  given(autoStarted, started).when(commands.startSource).thenEvents(sourceStarted)
  given(autoStarted)
    .when({ ...commands.startSource, pid: null })
    .thenEvents({ type: 'SourceStarted', data: { ...common, ...source, pid: null } })
})

for (const reason of Object.keys(finishReason.keys) as Array<FinishReason>)
  test(`a session finishes by ${reason}, pending or active`, (t) => {
    const { given } = specify(t, liveDecider)
    const event: LiveEvent = { type: 'LiveFinished', data: { ...common, reason } }
    const end = { type: 'EndLiveInTerm', cause: { status: 'finished', reason }, term: 1, at } as const
    given(created).when(end).thenEvents(event)
    given(created, started).when(end).thenEvents(event)
  })

test('an engine failure is recorded with its code and detail', (t) => {
  specify(t, liveDecider)
    .given(created, started)
    .when({ ...commands.fail, cause: { status: 'error', code: 'engine_failed', detail: 'out of memory' } })
    .thenEvents({ type: 'LiveFailed', data: { ...common, code: 'engine_failed', detail: 'out of memory' } })
})

test('the state holds sender, epoch, pid and the time of the last change', (t) => {
  t.deepEqual(fold(liveDecider, [created]), {
    status: 'pending',
    created: created.data,
    epoch: 0,
    term: 1,
    worker: 'gpu-0',
    sender: null,
    senderAt: null,
    startedAt: null,
    vocabulary: {},
    source: null,
    autoStartPid: null,
    updatedAt: null,
  })
  t.deepEqual(fold(liveDecider, [created, attached(1), started]), {
    status: 'active',
    created: created.data,
    epoch: 1,
    term: 1,
    worker: 'gpu-0',
    sender: 1,
    senderAt: earlier.at,
    startedAt: earlier.at,
    vocabulary: {},
    source: null,
    autoStartPid: null,
    updatedAt: earlier.at,
  })
  t.deepEqual(
    fold(liveDecider, [autoStarted, { type: 'SourceStarted', data: { ...earlier, ...source } }, started, finished]),
    {
      status: 'finished',
      created: autoStarted.data,
      epoch: 0,
      term: 1,
      worker: 'gpu-0',
      sender: null,
      senderAt: null,
      startedAt: earlier.at,
      vocabulary: {},
      source: { sampleOffset: 0, nextSegment: 1, mediaSequence: null },
      autoStartPid: 4242,
      updatedAt: earlier.at,
    },
  )
})
