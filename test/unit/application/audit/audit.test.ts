import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { checkLog } from '../../../../application/audit/check-log.ts'
import { sealEvents } from '../../../../application/log/event-serialization.ts'
import { after } from '../../domain/samples.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import {
  aborted,
  about,
  admitted,
  attached,
  birth,
  capacity,
  deleted,
  disabled,
  environment,
  fenced,
  finished,
  moved,
  on,
  problemsOf,
  registered,
  released,
  segment,
  takenOver,
  userDeleted,
  vram,
} from './audited-log.ts'
import type { Step } from './audited-log.ts'

test('a history that follows the rules passes', async (t) => {
  const whole = [
    capacity,
    admitted(1),
    birth(),
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
    birth(),
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
  t.deepEqual(await problemsOf(whole, [], ['user-4', 'live-2', 'keyring-probe']), [])
})

const begun = [capacity, admitted(1), birth()]

const broken: ReadonlyArray<readonly [expected: RegExp, steps: ReadonlyArray<Step>]> = [
  [/^order: revision 0 of live-1: the session was created without a reservation$/, [capacity, birth()]],
  [
    /^order: revision 0 of live-1: the session differs from its reservation$/,
    [capacity, admitted(1, { vram: vram - 1 }), birth()],
  ],
  [
    /^order: revision 0 of live-1: LiveStarted before the session was created$/,
    [capacity, admitted(1), on('LiveStarted')],
  ],
  [/^order: revision 1 of live-1: LiveCreated although the session exists$/, [...begun, birth()]],
  [/^order: revision 1 of live-1: LiveAborted although the session exists$/, [...begun, aborted]],
  [/^order: revision 2 of live-1: the session was started twice$/, [...begun, on('LiveStarted'), on('LiveStarted')]],
  [/^order: revision 2 of live-1: LiveStarted after the end of the session$/, [...begun, finished, on('LiveStarted')]],
  [
    /^order: revision 1 of live-1: LiveCreated after the end of the session$/,
    [capacity, admitted(1), aborted, birth()],
  ],
  [/^order: revision 1 of live-1: sender 2 connected after sender 0$/, [...begun, attached(2)]],
  [
    /^order: revision 1 of live-1: sender 1 left but was not connected$/,
    [...begun, on('SenderDetached', 1, { epoch: 1 })],
  ],
  [
    /^order: revision 1 of live-1: an event of session 2 in another stream$/,
    [...begun, ['live-1', on('LiveStarted', 2)[1]]],
  ],
  [/^order: revision 2 of admission: session 1 was admitted after session 2$/, [capacity, admitted(2), admitted(1)]],
  [
    /^order: revision 4 of admission: .* MB reserved of .* on worker /,
    [capacity, admitted(1), admitted(2), admitted(3), admitted(4)],
  ],
  [/^order: revision 2 of admission: session 1 was released before its end$/, [...begun, released(1)]],
  [/^order: revision 1 of admission: session 7 was released without a reservation$/, [capacity, released(7)]],
  [/^order: revision 1 of segments-1: segment 1 after segment 1$/, [...begun, segment(1), segment(1)]],
  [
    /^order: revision 0 of segments-1: a translation of segment 1 before that segment$/,
    [...begun, segment(1, 'translation')],
  ],
  [/^order: revision 2 of live-1: term 2 after term 2$/, [...begun, ...moved(2), takenOver(2), takenOver(2)]],
  [
    /^order: revision 1 of live-1: worker .* took over the session in term 2 without an assignment$/,
    [...begun, takenOver(2)],
  ],
  [
    /^order: revision 1 of live-1: worker other took over the session in term 2 without an assignment/,
    [...begun, ...moved(2), takenOver(2, 'other')],
  ],
  [
    /^order: revision 2 of live-1: sender 1 has term 1 instead of term 2$/,
    [...begun, ...moved(2), takenOver(2), attached(1)],
  ],
  [
    /^order: revision 1 of segments-1: a segment of term 1 after the fence of term 2$/,
    [...begun, fenced(2), segment(1)],
  ],
  [
    /^order: revision 0 of segments-1: a segment of term 2 without its fence$/,
    [...begun, segment(1, 'transcription', 2)],
  ],
  [/^order: revision 1 of segments-1: a fence of term 2 after the fence of term 3$/, [...begun, fenced(3), fenced(2)]],
  [
    /^order: revision 2 of segments-1: segment 1 after segment 1$/,
    [...begun, segment(1), fenced(2), segment(1, 'transcription', 2)],
  ],
  [/^order: revision 0 of live-1: .* without a reservation$/, [capacity, admitted(1), released(1), birth()]],
  [/^order: revision 1 of live-1: the session was deleted before its end$/, [...begun, deleted]],
  [/^order: revision 3 of live-1: LiveDeleted after the end of the session$/, [...begun, finished, deleted, deleted]],
  [/^order: revision 2 of user-3: UserDisabled after the user was deleted$/, [registered, userDeleted, disabled]],
  [/^erasure: session 1: still exists although user 3 was deleted$/, [...begun, finished, registered, userDeleted]],
  [/^erasure: key user-3: still exists although user 3 was deleted$/, [registered, userDeleted]],
  [/^erasure: key text-1: still exists although session 1 was deleted$/, [...begun, finished, deleted]],
  [/^reservations: session 1: holds \d+ MB although it has ended$/, [...begun, finished]],
  [/^reservations: session 1: holds \d+ MB although it was never created$/, [capacity, admitted(1)]],
]

for (const [expected, steps] of broken)
  test(`a violation is reported: ${expected.source}`, async (t) => {
    const found = await problemsOf(steps, [], ['user-3', 'live-1', 'text-1'])
    t.true(found.some((problem) => expected.test(problem)), found.join('\n'))
  })

test('a running deletion is not a fault', async (t) => {
  const late: Step = ['user-3', { type: 'UserDeleted', data: { userId: 3, usernameHash: 'h', at: after(950_000) } }]
  t.deepEqual(
    (await problemsOf([registered, late], [], ['user-3'])).filter((problem) => problem.startsWith('erasure')),
    [],
  )
})

test('unreadable events are reported, and the events after them are checked', async (t) => {
  const raw: ReadonlyArray<Step> = [
    ['live-1', { type: 'LiveStarted', data: { ...about(1), at: 'yesterday' } }],
    ['live-1', { type: 'LiveSang', data: {} }],
    ['live-1', { type: 'LiveFailed', data: { ...about(1), code: 'engine_failed', detail: '' } }],
  ]
  const found = await problemsOf(begun, raw)
  t.is(found.filter((problem) => problem.startsWith('decoding: ')).length, 2, found.join('\n'))
  t.regex(found[0] ?? '', /revision 1 of live-1: is not a valid LiveStarted: the stored value does not match/)
  t.regex(found[1] ?? '', /revision 2 of live-1: has the unknown type LiveSang/)
  t.deepEqual(found.filter((problem) => problem.startsWith('order: ')), [])
})

test('an envelope whose key never existed is reported, one with an erased key is not', async (t) => {
  const store = createMemoryEventStore()
  const [one, other] = [createMemoryKeyring(), createMemoryKeyring()]
  const [sealed] = right(await sealEvents(one, 'segments-1')([segment(1)[1]])())
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: environment.now() }
  right(
    await store.append('segments-1', 'any', [
      { id: environment.newId(), type: 'SegmentFinalised', data: sealed?.data ?? {}, metadata },
    ])(),
  )
  const foreign = await checkLog({ store, keyring: other, keyNames: () => [], now: null })
  t.regex(foreign.problems.map(({ where, problem }) => `${where} ${problem}`).join(), /^key text-1 is missing/)
  right(await one.erase(['text-1'])())
  t.deepEqual((await checkLog({ store, keyring: one, keyNames: () => [], now: null })).problems, [])
})

test('an unreadable log is not a clean log', async (t) => {
  const store = {
    ...createMemoryEventStore(),
    head: () => async () => E.left({ _tag: 'StoreUnavailable' as const, reason: 'gone' }),
  }
  await t.throwsAsync(checkLog({ store, keyring: createMemoryKeyring(), keyNames: () => [], now: null }), {
    message: 'gone',
  })
})

test('after a damaged row everything checkable is checked, and the rest is reported', async (t) => {
  const steps = [
    capacity,
    admitted(1),
    birth(),
    attached(1),
    finished,
    released(1),
    admitted(2),
    birth(2),
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
  const behind = (number: number): string =>
    `is not checked after position ${String(number + 1).padStart(20, '0')}, which cannot be read`
  const lost = (stream: string, number: number): string =>
    `erasure: ${stream}: may have been deleted by the event at position ${String(number + 1).padStart(20, '0')}, which cannot be read`
  const row = (stream: string, number: number): string =>
    `decoding: position ${String(number + 1).padStart(20, '0')} (${stream}): is damaged`
  const sorted = (problems: ReadonlyArray<string>): ReadonlyArray<string> => problems.toSorted()
  for (const number of [2, 3, 4])
    t.deepEqual(
      sorted(await problemsOf(steps, [], [], [number])),
      sorted([
        ...wrong,
        row('live-1', number),
        `order: live-1: ${behind(number)}`,
        `reservations: live-1: ${behind(number)}`,
        lost('live-1', number),
      ]),
    )
  t.deepEqual(
    sorted(await problemsOf(steps, [], [], [11])),
    sorted([...wrong.slice(1), row('user-3', 11), `order: user-3: ${behind(11)}`, lost('user-3', 11)]),
    'the last one',
  )
  t.deepEqual(
    sorted(await problemsOf(steps, [], [], [1, 8])),
    sorted([
      wrong[0] ?? '',
      row('admission', 1),
      row('admission', 8),
      `order: all sessions and admission: ${behind(1)}`,
      `reservations: all sessions: ${behind(1)}`,
    ]),
  )
})

const numbersOf = (steps: ReadonlyArray<Step>, isMeant: (stream: string) => boolean): ReadonlyArray<number> =>
  steps.flatMap(([stream], number) => (isMeant(stream) ? [number] : []))

/** Every choice of these numbers. */
const subsets = ([first, ...others]: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> =>
  first === undefined ? [[]] : subsets(others).flatMap((rest) => [rest, [first, ...rest]])

test('a log is right whatever a scavenge removes of forgotten segments, except the last event', async (t) => {
  const lines = [
    segment(1),
    segment(2),
    segment(1, 'translation'),
    segment(3),
    segment(2, 'translation'),
    segment(3, 'translation'),
  ]
  const steps = [...begun, ...lines, finished, released(1)]
  const choices = subsets(numbersOf(steps, (stream) => stream === 'segments-1').slice(0, -1))
  t.is(choices.length, 32)
  for (const gone of choices) t.deepEqual(await problemsOf(steps, [], [], [], gone), [], `without ${gone.join()}`)
})

test('removed events of streams that keep only their newest events are not a fault', async (t) => {
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

test('events after a gap are checked by what is left: a segment out of order is reported', async (t) => {
  const late = [...begun, segment(1), segment(2), segment(3, 'translation'), segment(3), segment(2)]
  const [, , , one, two] = late.keys()
  const found = await problemsOf(late, [], [], [], [one ?? 0, two ?? 0])
  t.deepEqual(
    found.filter((problem) => problem.startsWith('order: ')),
    [
      'order: revision 3 of segments-1: segment 3 after segment 3',
      'order: revision 4 of segments-1: segment 2 after segment 3',
    ],
  )
  const holes = [...begun, segment(1), segment(2)]
  t.deepEqual(
    (await problemsOf([...holes, on('LiveStarted'), attached(1)], [], [], [], [5])).filter((problem) =>
      problem.startsWith('order: '),
    ),
    ['order: revision 2 of live-1: revision 2 instead of 1'],
    'of a live nothing is ever discarded',
  )
})
