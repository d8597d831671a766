import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { checkLog } from '../../../../application/audit/check-log.ts'
import { sealEvents } from '../../../../application/log/event-serialization.ts'
import { after } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import {
  NOTHING_ERASED, about, admitted, attached, creation, capacity, deleted, disabled, environment, fenced, finished,
  moved, on, problemsOf, registered, released, segment, takenOver, userDeleted, vram, type Step,
} from './audited-log.ts'

test('a history that follows the rules passes', async (t) => {
  const whole = [
    capacity,
    admitted(1),
    creation(),
    attached(1),
    on('LiveStarted'),
    segment(1),
    segment(1, 'translation'),
    segment(2),
    on('SenderDetached', 1, { epoch: 1 }),
    attached(2),
    finished,
    deleted,
    released(1),
    admitted(2),
    on('LiveAborted', 2, { reason: 'orphan' }),
    released(2),
    registered,
    userDeleted,
  ]
  const takenOverTwice = [
    capacity,
    admitted(1),
    creation(),
    segment(1),
    ...moved(2),
    takenOver(2),
    fenced(2),
    segment(2, 'transcription', 2),
    attached(1, 2),
    ...moved(3),
    segment(3, 'transcription', 2),
    takenOver(3),
    fenced(3),
    segment(4, 'transcription', 3),
    finished,
    released(1),
  ]
  t.deepEqual(await problemsOf(takenOverTwice), [])
  t.deepEqual(await problemsOf(whole, [], ['user-2', 'live-2', 'keyring-probe']), [])
})

const created = [capacity, admitted(1), creation()]

test('a deletion that is still in progress is not a fault', async (t) => {
  const recent: Step = ['user-3', { type: 'UserDeleted', data: { userId: 3, usernameHash: 'h', at: after(950_000) } }]
  t.deepEqual(
    (await problemsOf([registered, recent], [], ['user-3'])).filter((problem) => problem.startsWith('erasure')),
    [],
  )
})

test('unreadable events are reported, and the events after them are checked', async (t) => {
  const raw: ReadonlyArray<Step> = [
    ['live-1', { type: 'LiveStarted', data: { ...about(1), at: 'yesterday' } }],
    ['live-1', { type: 'LiveSang', data: {} }],
    ['live-1', { type: 'LiveFailed', data: { ...about(1), code: 'engine_failed', detail: '' } }],
  ]
  const found = await problemsOf(created, raw)
  t.is(found.filter((problem) => problem.startsWith('decoding: ')).length, 2, found.join('\n'))
  t.regex(found[0] ?? '', /revision 1 of live-1: is not a valid LiveStarted: the stored value does not match/)
  t.regex(found[1] ?? '', /revision 2 of live-1: has the unknown type LiveSang/)
  t.deepEqual(found.filter((problem) => problem.startsWith('order: ')), [])
})

test('an encrypted text whose key never existed is reported; a text whose key was erased is not', async (t) => {
  const store = createMemoryEventStore()
  const [keyring, otherKeyring] = [createMemoryKeyring(), createMemoryKeyring()]
  const [sealed] = right(await sealEvents(keyring, 'segments-1')([segment(1)[1]]))
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  right(
    await store.append('segments-1', 'any', [
      { id: environment.newId(), type: 'SegmentFinalised', data: sealed?.data ?? {}, metadata },
    ]),
  )
  const foreign = await checkLog({ ...NOTHING_ERASED, store, keyring: otherKeyring, keyNames: () => [], now: null })
  t.regex(foreign.problems.map(({ where, problem }) => `${where} ${problem}`).join(), /^key text-1 is missing/)
  right(await keyring.erase(['text-1']))
  t.deepEqual((await checkLog({ ...NOTHING_ERASED, store, keyring, keyNames: () => [], now: null })).problems, [])
})

test('an unreadable log is not reported as clean', async (t) => {
  const store = {
    ...createMemoryEventStore(),
    head: async () => E.left({ _tag: 'StoreUnavailable' as const, reason: 'gone' }),
  }
  const checked = checkLog({
    ...NOTHING_ERASED, store, keyring: createMemoryKeyring(), keyNames: () => [], now: null,
  })
  await t.throwsAsync(checked, { message: 'gone' })
})

test('after a damaged row all checkable events are checked, and the rest is reported as unchecked', async (t) => {
  const steps = [
    capacity,
    admitted(1),
    creation(),
    attached(1),
    finished,
    released(1),
    admitted(2),
    creation(2),
    admitted(3),
    on('LiveAborted', 3, { reason: 'orphan' }),
    on('LiveFinished', 2, { reason: 'restart' }),
    disabled,
  ]
  const wrong = [
    'order: revision 0 of user-3: UserDisabled before the user was registered',
    `reservations: session 2: holds ${vram} MB although it has ended`,
    `reservations: session 3: holds ${vram} MB although it has ended`,
  ]
  t.deepEqual(await problemsOf(steps), wrong)
  const positionOf = (number: number): string => String(number + 1).padStart(20, '0')
  const notCheckedAfter = (number: number): string =>
    `is not checked after position ${positionOf(number)}, which cannot be read`
  const maybeDeleted = (stream: string, number: number): string =>
    `erasure: ${stream}: may have been deleted by the event at position ${positionOf(number)}, which cannot be read`
  const row = (stream: string, number: number): string =>
    `decoding: position ${positionOf(number)} (${stream}): is damaged`
  const sorted = (problems: ReadonlyArray<string>): ReadonlyArray<string> => problems.toSorted()
  for (const number of [2, 3, 4])
    t.deepEqual(
      sorted(await problemsOf(steps, [], [], [number])),
      sorted([
        ...wrong,
        row('live-1', number),
        `order: live-1: ${notCheckedAfter(number)}`,
        `reservations: live-1: ${notCheckedAfter(number)}`,
        maybeDeleted('live-1', number),
      ]),
    )
  t.deepEqual(
    sorted(await problemsOf(steps, [], [], [11])),
    sorted([...wrong.slice(1), row('user-3', 11), `order: user-3: ${notCheckedAfter(11)}`, maybeDeleted('user-3', 11)]),
    'the last event',
  )
  t.deepEqual(
    sorted(await problemsOf(steps, [], [], [1, 8])),
    sorted([
      wrong[0] ?? '',
      row('admission', 1),
      row('admission', 8),
      `order: all sessions and admission: ${notCheckedAfter(1)}`,
      `reservations: all sessions: ${notCheckedAfter(1)}`,
    ]),
  )
})

const numbersOf = (steps: ReadonlyArray<Step>, matches: (stream: string) => boolean): ReadonlyArray<number> =>
  steps.flatMap(([stream], number) => (matches(stream) ? [number] : []))

/** Returns all subsets of these numbers. */
const subsets = ([first, ...others]: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> =>
  first === undefined ? [[]] : subsets(others).flatMap((rest) => [rest, [first, ...rest]])

test('a log is valid after a scavenge removes any events of forgotten segments except the last', async (t) => {
  const lines = [
    segment(1),
    segment(2),
    segment(1, 'translation'),
    segment(3),
    segment(2, 'translation'),
    segment(3, 'translation'),
  ]
  const steps = [...created, ...lines, finished, released(1)]
  const choices = subsets(numbersOf(steps, (stream) => stream === 'segments-1').slice(0, -1))
  t.is(choices.length, 32)
  for (const removed of choices)
    t.deepEqual(await problemsOf(steps, [], [], [], removed), [], `without ${removed.join()}`)
})

test('removed events are not a fault in streams that keep only their newest events', async (t) => {
  const used = (second: number): Step => [
    'token-use-1',
    { type: 'ApiTokenUsed', data: { tokenId: 1, userId: 3, at: after(second) } },
  ]
  const taken = (): Step => ['seq-user', { type: 'IdTaken', data: { at: after(0) } }]
  const failed = (): Step => ['login-failures-h', { type: 'LoginFailed', data: { failures: 1, at: after(0) } }]
  const steps = [used(1), taken(), failed(), used(2), taken(), failed(), used(3), taken(), failed()]
  const problems = (await problemsOf(steps, [], [], [], [0, 1, 2, 4, 5, 6])).filter((problem) =>
    problem.startsWith('order: '),
  )
  t.deepEqual(problems, [])
})

test('events after a gap are checked against the remaining events: a segment out of order is reported', async (t) => {
  const history = [...created, segment(1), segment(2), segment(3, 'translation'), segment(3), segment(2)]
  const [, , , firstSegment = 0, secondSegment = 0] = history.keys()
  const found = await problemsOf(history, [], [], [], [firstSegment, secondSegment])
  t.deepEqual(
    found.filter((problem) => problem.startsWith('order: ')),
    [
      'order: revision 3 of segments-1: segment 3 after segment 3',
      'order: revision 4 of segments-1: segment 2 after segment 3',
    ],
  )
  const holes = [...created, segment(1), segment(2)]
  t.deepEqual(
    (await problemsOf([...holes, on('LiveStarted'), attached(1)], [], [], [], [5])).filter((problem) =>
      problem.startsWith('order: '),
    ),
    ['order: revision 2 of live-1: revision 2 instead of 1'],
    'no event of a session stream may be removed',
  )
})
