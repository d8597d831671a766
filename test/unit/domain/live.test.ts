import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { LiveCommand, LiveRefusal } from '../../../domain/live/commands.ts'
import { finishReason } from '../../../domain/live/events.ts'
import type { FinishReason, LiveEvent } from '../../../domain/live/events.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { specify } from '../../support/tools/specify.ts'
import { after, liveCreated } from './samples.ts'

const at = after(9000)
const earlier = { liveId: 7, userId: 3, at: after(1000) }
const about = { liveId: 7, userId: 3, at }

const created = liveCreated()
const autoStarted = liveCreated({
  audioFormat: 'hls',
  audioUrl: 'https://media.example/a.m3u8',
  audioUrlHash: 'h',
  autoStart: true,
})
const attached = (epoch: number, term = 1): LiveEvent => ({
  type: 'SenderAttached',
  data: { ...earlier, epoch, instance: 'a', term },
})
const takenOver = (term: number): LiveEvent => ({ type: 'LiveTakenOver', data: { ...earlier, worker: 'gpu-1', term } })
const detached = (epoch: number): LiveEvent => ({ type: 'SenderDetached', data: { ...earlier, epoch } })
const started: LiveEvent = { type: 'LiveStarted', data: earlier }
const finished: LiveEvent = { type: 'LiveFinished', data: { ...earlier, reason: 'finish_message' } }
const failed: LiveEvent = { type: 'LiveFailed', data: { ...earlier, code: 'engine_failed', detail: 'gone' } }
const aborted: LiveEvent = { type: 'LiveAborted', data: { ...earlier, reason: 'orphan' } }
const source = { pid: 4242, sampleOffset: 0, nextSegment: 1, mediaSequence: null }

const deleted: LiveEvent = { type: 'LiveDeleted', data: { ...earlier, lastStatus: 'finished' } }

/** Every command that speaks to a live, under its name. */
const commands = {
  create: { type: 'CreateLive', data: { ...created.data, commandId: 'another' } },
  abort: { type: 'AbortLive', ...about, reason: 'orphan' },
  attach: { type: 'AttachSender', instance: 'a', term: 1, at },
  detach: { type: 'DetachSender', epoch: 1, term: 1, at },
  takeOver: { type: 'TakeOverLive', worker: 'gpu-1', term: 2, at },
  expect: { type: 'ChangeVocabulary', vocabulary: { hotwords: ['Babbage'] }, term: 1, at },
  source: { type: 'StartSource', ...source, term: 1, at },
  start: { type: 'StartLive', term: 1, at },
  finish: { type: 'FinishLive', reason: 'finish_route', term: null, at },
  fail: { type: 'FailLive', code: 'source_failed', detail: 'no audio', term: 1, at },
  remove: { type: 'DeleteLive', at },
  expire: { type: 'ExpireLive', pendingTimeout: 1000, maxDuration: 1000, at },
} satisfies Record<string, LiveCommand>
type CommandName = keyof typeof commands

/** What each command leads to in each state: the types of its events, or the refusal's tag. */
type Outcome = ReadonlyArray<LiveEvent['type']> | LiveRefusal['_tag']
const over = {
  attach: 'LiveOver',
  detach: [],
  takeOver: 'LiveOver',
  expect: 'LiveOver',
  source: 'LiveOver',
  start: 'LiveOver',
  finish: [],
  fail: [],
  expire: [],
} as const
const existing = { create: 'AlreadyCreated', abort: 'AlreadyCreated' } as const
interface Stage {
  readonly given: ReadonlyArray<LiveEvent>
  readonly outcomes: Readonly<Record<CommandName, Outcome>>
}
const lifecycle: Readonly<Record<string, Stage>> = {
  unknown: {
    given: [],
    outcomes: {
      create: ['LiveCreated'], abort: ['LiveAborted'], attach: 'LiveUnknown', detach: 'LiveUnknown', takeOver: 'LiveUnknown', expect: 'LiveUnknown',
      source: 'LiveUnknown', start: 'LiveUnknown', finish: 'LiveUnknown', fail: 'LiveUnknown', remove: 'LiveUnknown', expire: 'LiveUnknown',
    },
  },
  pending: {
    given: [created],
    outcomes: {
      ...existing, attach: ['SenderAttached'], detach: [], takeOver: ['LiveTakenOver'], expect: ['VocabularyChanged'], source: ['SourceStarted'],
      start: ['LiveStarted'], finish: ['LiveFinished'], fail: ['LiveFailed'], remove: ['LiveFinished', 'LiveDeleted'], expire: ['LiveFinished'],
    },
  },
  'pending with a sender': {
    given: [created, attached(1)],
    outcomes: {
      ...existing, attach: ['SenderAttached'], detach: ['SenderDetached'], takeOver: ['LiveTakenOver'], expect: ['VocabularyChanged'], source: ['SourceStarted'],
      start: ['LiveStarted'], finish: ['LiveFinished'], fail: ['LiveFailed'], remove: ['LiveFinished', 'LiveDeleted'], expire: ['LiveFinished'],
    },
  },
  active: {
    given: [created, attached(1), started],
    outcomes: {
      ...existing, attach: ['SenderAttached'], detach: ['SenderDetached'], takeOver: ['LiveTakenOver'], expect: ['VocabularyChanged'], source: ['SourceStarted'],
      start: [], finish: ['LiveFinished'], fail: ['LiveFailed'], remove: ['LiveFinished', 'LiveDeleted'], expire: ['LiveFinished'],
    },
  },
  finished: { given: [created, attached(1), started, finished], outcomes: { ...existing, ...over, remove: ['LiveDeleted'] } },
  error: { given: [created, attached(1), started, failed], outcomes: { ...existing, ...over, remove: ['LiveDeleted'] } },
  aborted: { given: [aborted], outcomes: { create: 'LiveOver', abort: [], ...over, remove: [] } },
  deleted: { given: [created, finished, deleted], outcomes: { ...existing, ...over, remove: [] } },
}

for (const [state, { given, outcomes }] of Object.entries(lifecycle))
  for (const [name, outcome] of Object.entries(outcomes))
    test(`${name} on a live that is ${state}: ${outcome.length === 0 ? 'nothing to do' : String(outcome)} [R98]`, (t) => {
      const decision = liveDecider.decide(commands[name as CommandName], fold(liveDecider, given))
      t.deepEqual(decision._tag === 'Left' ? decision.left._tag : decision.right.map((event) => event.type), outcome)
    })

test('creating a session records the request', (t) => {
  specify(t, liveDecider).given().when({ type: 'CreateLive', data: created.data }).thenEvents(created)
})

test('repeating a create changes nothing, even after the end of the session', (t) => {
  specify(t, liveDecider).given(created, finished).when({ type: 'CreateLive', data: created.data }).thenNothing()
})

test('a fenced create is refused for good', (t) => {
  specify(t, liveDecider)
    .given(aborted)
    .when({ type: 'CreateLive', data: created.data })
    .thenRefused({ _tag: 'LiveOver' })
})

test('a deletion records how the session ended; a running session finishes first, in the same decision [R86]', (t) => {
  const { given } = specify(t, liveDecider)
  const gone = (lastStatus: 'finished' | 'error'): LiveEvent => ({
    type: 'LiveDeleted',
    data: { ...about, lastStatus },
  })
  given(created, started)
    .when(commands.remove)
    .thenEvents({ type: 'LiveFinished', data: { ...about, reason: 'deleted' } }, gone('finished'))
  given(created, started, finished).when(commands.remove).thenEvents(gone('finished'))
  given(created, started, failed).when(commands.remove).thenEvents(gone('error'))
  t.deepEqual(fold(liveDecider, [created, finished, deleted]), { status: 'deleted' }, 'nothing of it is kept')
})

test('a pending session without sender ends after PENDING_TIMEOUT since its creation or last sender [R105]', (t) => {
  const { given } = specify(t, liveDecider)
  const expireAt = (ms: number, limits: object = {}) => ({
    ...commands.expire,
    pendingTimeout: 5000,
    maxDuration: 0,
    ...limits,
    at: after(ms),
  })
  const timedOut = (ms: number): LiveEvent => ({
    type: 'LiveFinished',
    data: { ...about, at: after(ms), reason: 'pending_timeout' },
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

test('a session ends MAX_DURATION after its start, and so does one with a silent sender [R105]', (t) => {
  const { given } = specify(t, liveDecider)
  const expireAt = (ms: number, maxDuration = 5000) => ({
    ...commands.expire,
    pendingTimeout: 0,
    maxDuration,
    at: after(ms),
  })
  const tooLong = (ms: number): LiveEvent => ({
    type: 'LiveFinished',
    data: { ...about, at: after(ms), reason: 'max_duration' },
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

test('the first sender gets epoch 1, the next one after it left epoch 2', (t) => {
  const { given } = specify(t, liveDecider)
  given(created)
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...about, epoch: 1, instance: 'a', term: 1 } })
  given(created, attached(1), detached(1))
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...about, epoch: 2, instance: 'a', term: 1 } })
})

test('only the worker assigns the place: a sender that is only in the log locks nobody out', (t) => {
  specify(t, liveDecider)
    .given(created, attached(1))
    .when(commands.attach)
    .thenEvents({ type: 'SenderAttached', data: { ...about, epoch: 2, instance: 'a', term: 1 } })
})

test('a worker takes a session over once; the sender of the earlier term leaves with its worker', (t) => {
  const { given } = specify(t, liveDecider)
  given(created, attached(1), started)
    .when(commands.takeOver)
    .thenEvents({ type: 'LiveTakenOver', data: { ...about, worker: 'gpu-1', term: 2 } })
  given(created, takenOver(2)).when(commands.takeOver).thenNothing()
  given(created, takenOver(3)).when(commands.takeOver).thenRefused({ _tag: 'Superseded' })
  t.like(fold(liveDecider, [created, attached(1), takenOver(2)]), { term: 2, sender: null, senderAt: earlier.at })
  t.like(fold(liveDecider, [created, takenOver(2)]), { term: 2, senderAt: null })
})

for (const name of ['attach', 'detach', 'source', 'start', 'fail'] as const)
  test(`${name} by the worker of an ended term is refused, by the current one it is not`, (t) => {
    const given = fold(liveDecider, [created, takenOver(2), attached(1, 2)])
    t.deepEqual(liveDecider.decide(commands[name], given), E.left({ _tag: 'Superseded' }))
    t.true(E.isRight(liveDecider.decide({ ...commands[name], term: 2 }, given)))
  })

test('other actors may end a session in any term', (t) => {
  const finishedNow: LiveEvent = { type: 'LiveFinished', data: { ...about, reason: 'finish_route' } }
  specify(t, liveDecider).given(created, takenOver(2)).when(commands.finish).thenEvents(finishedNow)
  specify(t, liveDecider)
    .given(created, takenOver(2))
    .when({ ...commands.finish, term: 1 })
    .thenRefused({ _tag: 'Superseded' })
})

test('detaching a replaced sender changes nothing', (t) => {
  specify(t, liveDecider).given(created, attached(1), attached(2)).when(commands.detach).thenNothing()
})

test('an auto-started session is active once its process has a pid [D24]', (t) => {
  const { given } = specify(t, liveDecider)
  const sourceStarted: LiveEvent = { type: 'SourceStarted', data: { ...about, ...source } }
  given(autoStarted).when(commands.source).thenEvents(sourceStarted, { type: 'LiveStarted', data: about })
  given(autoStarted, started).when(commands.source).thenEvents(sourceStarted)
  given(autoStarted)
    .when({ ...commands.source, pid: null })
    .thenEvents({ type: 'SourceStarted', data: { ...about, ...source, pid: null } })
})

for (const reason of Object.keys(finishReason.keys) as Array<FinishReason>)
  test(`a session finishes by ${reason}, pending or active [A4]`, (t) => {
    const { given } = specify(t, liveDecider)
    const event: LiveEvent = { type: 'LiveFinished', data: { ...about, reason } }
    given(created).when({ type: 'FinishLive', reason, term: 1, at }).thenEvents(event)
    given(created, started).when({ type: 'FinishLive', reason, term: 1, at }).thenEvents(event)
  })

test('an engine failure is recorded with its code and detail [R102]', (t) => {
  specify(t, liveDecider)
    .given(created, started)
    .when({ type: 'FailLive', code: 'engine_failed', detail: 'out of memory', term: 1, at })
    .thenEvents({ type: 'LiveFailed', data: { ...about, code: 'engine_failed', detail: 'out of memory' } })
})

test('the state holds sender, epoch, pid and the time of the last change', (t) => {
  t.deepEqual(fold(liveDecider, [created]), {
    status: 'pending',
    created: created.data,
    epoch: 0,
    term: 1,
    sender: null,
    senderAt: null,
    startedAt: null,
    vocabulary: {},
    autoStartPid: null,
    updatedAt: null,
  })
  t.deepEqual(fold(liveDecider, [created, attached(1), started]), {
    status: 'active',
    created: created.data,
    epoch: 1,
    term: 1,
    sender: 1,
    senderAt: earlier.at,
    startedAt: earlier.at,
    vocabulary: {},
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
      sender: null,
      senderAt: null,
      startedAt: earlier.at,
      vocabulary: {},
      autoStartPid: 4242,
      updatedAt: earlier.at,
    },
  )
})
