import test from 'ava'
import {
  aborted, admitted, attached, creation, capacity, deleted, disabled, fenced, finished, moved, on, problemsOf,
  registered, released, segment, takenOver, userDeleted, vram, type Step,
} from './audited-log.ts'

const created = [capacity, admitted(1), creation()]

const user = { userId: 3, at: '2026-01-01T00:00:00.000000+00:00' }
const passwordChanged = (generation: number): Step =>
  ['user-3', { type: 'PasswordChanged', data: { ...user, passwordHash: 'hash', generation } }]
const loginsEnded = (generation: number): Step => ['user-3', { type: 'LoginsEnded', data: { ...user, generation } }]

/** Each history breaks one rule; the pattern is the expected problem. */
const broken: ReadonlyArray<readonly [expected: RegExp, steps: ReadonlyArray<Step>]> = [
  [/^order: revision 0 of live-1: the session was created without a reservation$/, [capacity, creation()]],
  [
    /^order: revision 0 of live-1: the session differs from its reservation$/,
    [capacity, admitted(1, { vram: vram - 1 }), creation()],
  ],
  [
    /^order: revision 0 of live-1: LiveStarted before the session was created$/,
    [capacity, admitted(1), on('LiveStarted')],
  ],
  [/^order: revision 1 of live-1: LiveCreated although the session exists$/, [...created, creation()]],
  [/^order: revision 1 of live-1: LiveAborted although the session exists$/, [...created, aborted]],
  [/^order: revision 2 of live-1: the session was started twice$/, [...created, on('LiveStarted'), on('LiveStarted')]],
  [
    /^order: revision 2 of live-1: LiveStarted after the end of the session$/,
    [...created, finished, on('LiveStarted')],
  ],
  [
    /^order: revision 1 of live-1: LiveCreated after the end of the session$/,
    [capacity, admitted(1), aborted, creation()],
  ],
  [/^order: revision 1 of live-1: sender 2 connected instead of sender 1$/, [...created, attached(2)]],
  [
    /^order: revision 1 of live-1: sender 1 left but was not connected$/,
    [...created, on('SenderDetached', 1, { epoch: 1 })],
  ],
  [
    /^order: revision 1 of live-1: an event of session 2 in another stream$/,
    [...created, ['live-1', on('LiveStarted', 2)[1]]],
  ],
  [/^order: revision 2 of admission: session 1 was admitted after session 2$/, [capacity, admitted(2), admitted(1)]],
  [
    /^order: revision 4 of admission: worker .* has reservations of .* MB but only /,
    [capacity, admitted(1), admitted(2), admitted(3), admitted(4)],
  ],
  [/^order: revision 2 of admission: session 1 was released before its end$/, [...created, released(1)]],
  [/^order: revision 1 of admission: session 7 was released without a reservation$/, [capacity, released(7)]],
  [/^order: revision 1 of segments-1: segment 1 after segment 1$/, [...created, segment(1), segment(1)]],
  [
    /^order: revision 0 of segments-1: a translation of segment 1 before that segment$/,
    [...created, segment(1, 'translation')],
  ],
  [/^order: revision 2 of live-1: term 2 after term 2$/, [...created, ...moved(2), takenOver(2), takenOver(2)]],
  [
    /^order: revision 1 of live-1: worker .* took over the session in term 2 without an assignment$/,
    [...created, takenOver(2)],
  ],
  [
    /^order: revision 1 of live-1: worker other took over the session in term 2 without an assignment/,
    [...created, ...moved(2), takenOver(2, 'other')],
  ],
  [
    /^order: revision 2 of live-1: sender 1 has term 1 instead of term 2$/,
    [...created, ...moved(2), takenOver(2), attached(1)],
  ],
  [
    /^order: revision 1 of segments-1: a segment of term 1 after the fence of term 2$/,
    [...created, fenced(2), segment(1)],
  ],
  [
    /^order: revision 0 of segments-1: a segment of term 2 without its fence$/,
    [...created, segment(1, 'transcription', 2)],
  ],
  [
    /^order: revision 1 of segments-1: a fence of term 2 after the fence of term 3$/,
    [...created, fenced(3), fenced(2)],
  ],
  [
    /^order: revision 2 of segments-1: segment 1 after segment 1$/,
    [...created, segment(1), fenced(2), segment(1, 'transcription', 2)],
  ],
  [/^order: revision 0 of live-1: .* without a reservation$/, [capacity, admitted(1), released(1), creation()]],
  [/^order: revision 1 of live-1: the session was deleted before its end$/, [...created, deleted]],
  [/^order: revision 3 of live-1: LiveDeleted after the end of the session$/, [...created, finished, deleted, deleted]],
  [/^order: revision 2 of user-3: UserDisabled after the user was deleted$/, [registered, userDeleted, disabled]],
  [/^order: revision 2 of user-3: login generation 1 after 1$/, [registered, passwordChanged(1), loginsEnded(1)]],
  [/^order: revision 2 of user-3: login generation 2 after 2$/, [registered, loginsEnded(2), passwordChanged(2)]],
  [/^erasure: session 1: still exists although user 3 was deleted$/, [...created, finished, registered, userDeleted]],
  [/^erasure: key user-3: still exists although user 3 was deleted$/, [registered, userDeleted]],
  [/^erasure: key text-1: still exists although session 1 was deleted$/, [...created, finished, deleted]],
  [/^reservations: session 1: holds \d+ MB although it has ended$/, [...created, finished]],
  [/^reservations: session 1: holds \d+ MB although it was never created$/, [capacity, admitted(1)]],
]

for (const [expected, steps] of broken)
  test(`a violation is reported: ${expected.source}`, async (t) => {
    const found = await problemsOf(steps, [], ['user-3', 'live-1', 'text-1'])
    t.true(found.some((problem) => expected.test(problem)), found.join('\n'))
  })
