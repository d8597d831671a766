import test from 'ava'
import { after } from '../../../support/events/sample-events.ts'
import {
  admitted, creation, capacity, finished, on, problemsOf, released, vram, worker, type Step,
} from './audited-log.ts'

const joined = (name: string, megabytes = vram, incarnation = 'i'): Step =>
  ['admission', { type: 'WorkerJoined', data: { worker: name, incarnation, vram: megabytes, at: after(0) } }]
const left = (name: string, incarnation: string | null = 'i'): Step =>
  ['admission', { type: 'WorkerLeft', data: { worker: name, incarnation, reason: 'lost', at: after(0) } }]
const draining = (name: string): Step => [
  'admission',
  { type: 'WorkerDraining', data: { worker: name, incarnation: 'i', at: after(0) } },
]
const restarted = (name: string, waiting: ReadonlyArray<number> = [], megabytes = vram, incarnation = 'next'): Step => {
  const data = { worker: name, incarnation, vram: megabytes, waiting, at: after(0) }
  return ['admission', { type: 'WorkerRestarted', data }]
}
const moved = (liveId: number, name: string, term = 2): Step => [
  'admission',
  { type: 'Moved', data: { liveId, worker: name, term, at: after(0) } },
]

test('a log is valid when a restarted worker keeps a session, or gives it up', async (t) => {
  const kept = [joined(worker), admitted(1), creation(), restarted(worker), on('LiveTakenOver', 1, { worker, term: 2 })]
  t.deepEqual(await problemsOf([...kept, finished, released(1)], []), [])
  const givenUp = [restarted(worker, [1], 0, 'third'), joined('other'), moved(1, 'other', 3)]
  t.deepEqual(await problemsOf([...kept, ...givenUp, finished, released(1)], []), [])
})

test('a log is valid when sessions move between workers before and after their creation', async (t) => {
  const takeover = [capacity, admitted(1), left(worker, null), joined('other', 2 * vram), moved(1, 'other'), creation()]
  const wait = [
    admitted(2, { worker: 'other' }),
    left('other'),
    creation(2),
    joined('third', 2 * vram),
    moved(1, 'third', 3),
    moved(2, 'third'),
  ]
  const restart = [
    draining('third'),
    left('third'),
    joined('third', vram, 'second'),
    moved(2, 'third', 3),
    on('LiveFinished', 2, { reason: 'restart' }),
    released(2),
  ]
  t.deepEqual(await problemsOf([...takeover, ...wait, ...restart, finished, released(1)], []), [])
})

const created = [capacity, admitted(1), creation()]

const broken: ReadonlyArray<readonly [expected: RegExp, steps: ReadonlyArray<Step>]> = [
  [
    /^order: revision 4 of admission: worker other has reservations of .* MB but only .* MB$/,
    [joined(worker, 2 * vram), admitted(1), admitted(2, { vram: 1 }), joined('other', vram - 1), moved(1, 'other')],
  ],
  [
    /^order: revision 3 of admission: session 1 was moved to term 3 instead of term 2$/,
    [...created, joined('other'), moved(1, 'other', 3)],
  ],
  [
    /^order: revision 2 of admission: session 7 was moved without a reservation$/,
    [capacity, joined('other'), moved(7, 'other')],
  ],
  [
    /^order: revision 2 of admission: worker other got a session before it joined or after it left$/,
    [...created, moved(1, 'other')],
  ],
  [
    /^order: revision 2 of admission: worker .* got a session before it joined or after it left$/,
    [joined(worker), left(worker), admitted(1)],
  ],
  [
    /^order: revision 2 of admission: worker .* got a session while it was draining$/,
    [joined(worker), draining(worker), admitted(1)],
  ],
  [
    /^order: revision 1 of admission: worker other joined again before it left$/,
    [joined('other'), joined('other', vram, 'second')],
  ],
  [/^order: revision 1 of admission: worker other restarted but had not joined$/, [capacity, restarted('other')]],
  [
    /^order: revision 1 of admission: worker other restarted as the same run$/,
    [joined('other'), restarted('other', [], vram, 'i')],
  ],
  [
    /^order: revision 2 of admission: worker .* kept reservations of .* MB but has only .* MB$/,
    [joined(worker), admitted(1), restarted(worker, [], vram - 1)],
  ],
  [
    /^order: revision 1 of admission: WorkerLeft of worker other, which is not joined$/,
    [joined('other'), left('other', 'before')],
  ],
]

for (const [expected, steps] of broken)
  test(`the problem is reported: ${expected.source}`, async (t) => {
    const problems = await problemsOf(steps)
    t.true(problems.some((problem) => expected.test(problem)), problems.join('\n'))
  })
