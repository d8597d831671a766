import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { admissionDecider, type AdmissionCommand } from '../../../../domain/admission/decider.ts'
import { isPlaceable } from '../../../../domain/admission/placement.ts'
import { openOf, placementOf, reservedVram } from '../../../../domain/admission/state.ts'
import { fold, type Stamped } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import {
  admit,
  admitted,
  at,
  capacity,
  draining,
  join,
  joined,
  leave,
  left,
  move,
  moved,
  released,
  restarted,
} from './admission-samples.ts'

const place: Stamped<AdmissionCommand> = { type: 'Place', at }

test('a draining worker keeps its sessions and gets no more', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 9000), admitted(1), draining('gpu-0')]
  given(joined('gpu-0', 9000))
    .when({ type: 'Drain', worker: 'gpu-0', incarnation: 'first', at })
    .thenEvents(draining('gpu-0'))
  given(...history).when({ type: 'Drain', worker: 'gpu-0', incarnation: 'first', at }).thenNothing()
  given(joined('gpu-0', 9000)).when({ type: 'Drain', worker: 'gpu-0', incarnation: 'another', at }).thenNothing()
  given(...history).when(admit(2)).thenRefused({ _tag: 'NoWorker' })
  given(...history, joined('gpu-1', 1000)).when(admit(2)).thenEvents(admitted(2, { worker: 'gpu-1' }))
  t.deepEqual(placementOf(fold(admissionDecider, history), 1), { worker: 'gpu-0', term: 1 })
})

test('an unchanged join does nothing; a changed capacity is recorded', (t) => {
  const { given } = specify(t, admissionDecider)
  given().when(join('gpu-0', 8000, 'first')).thenEvents(joined('gpu-0', 8000, 'first', at))
  given(joined('gpu-0', 8000)).when(join('gpu-0', 8000, 'first')).thenNothing()
  given(joined('gpu-0', 8000), admitted(1))
    .when(join('gpu-0', 500, 'first'))
    .thenEvents(joined('gpu-0', 500, 'first', at))
})

test('a restarted worker keeps all sessions in their next terms with one event', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 3000), admitted(1), admitted(2), admitted(3)]
  given(...history).when(join('gpu-0', 3000)).thenEvents(restarted('gpu-0', 3000))
  given(...history, restarted('gpu-0', 3000)).when(join('gpu-0', 3000)).thenNothing()
  given(...history, draining('gpu-0'), restarted('gpu-0', 3000))
    .when(join('gpu-0', 4000, 'third'))
    .thenEvents(restarted('gpu-0', 4000, [], 'third'))
  const twice = fold(admissionDecider, [...history, restarted('gpu-0', 3000), restarted('gpu-0', 4000, [], 'third')])
  for (const liveId of [1, 2, 3]) t.deepEqual(placementOf(twice, liveId), { worker: 'gpu-0', term: 3 })
  t.deepEqual(twice.workers, [{ worker: 'gpu-0', incarnation: 'third', vram: 4000, isDraining: false }])
})

test('a restarted worker gives up the sessions for which it lacks the memory or the models', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 3000), admitted(1), admitted(2), admitted(3)]
  given(...history).when(join('gpu-0', 2500)).thenEvents(restarted('gpu-0', 2500, [3]))
  given(...history, joined('gpu-1', 9000))
    .when(join('gpu-0', 1000))
    .thenEvents(restarted('gpu-0', 1000, [2, 3]), moved(2, 'gpu-1'), moved(3, 'gpu-1'))
  const offering = new Map([['gpu-0', new Set(['tiny'])]])
  given(joined('gpu-0', 3000), admitted(1, { needs: ['large'] }), admitted(2))
    .when({ ...join('gpu-0', 3000), offering })
    .thenEvents(restarted('gpu-0', 3000, [1]))
  const after = fold(admissionDecider, [...history, restarted('gpu-0', 1000, [1, 2])])
  t.deepEqual(
    after.open.map(({ liveId, worker, term }) => [liveId, worker, term]),
    [[3, 'gpu-0', 2], [1, null, 1], [2, null, 1]],
  )
})

test('while an older process runs, a restarted worker gets its sessions back one by one, earliest first', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 3000), admitted(1), admitted(2), admitted(3)]
  const rejoined = [left('gpu-0', 'rejoined'), joined('gpu-0', 3000, 'second', at)]
  given(...history)
    .when(join('gpu-0', 3000, 'second', false))
    .thenEvents(...rejoined, moved(1, 'gpu-0'), moved(2, 'gpu-0'), moved(3, 'gpu-0'))
  given(...history, joined('gpu-1', 9000))
    .when(join('gpu-0', 1000, 'second', false))
    .thenEvents(
      left('gpu-0', 'rejoined'),
      joined('gpu-0', 1000, 'second', at),
      moved(1, 'gpu-0'),
      moved(2, 'gpu-1'),
      moved(3, 'gpu-1'),
    )
})

test('when a worker joins, the worker of an older version leaves and its sessions are taken over', (t) => {
  const { given } = specify(t, admissionDecider)
  const older = [capacity('local', 4000), admitted(1, { worker: 'local', needs: null })]
  given(...older).when(join('local', 4000, 'first')).thenEvents(restarted('local', 4000, [], 'first'))
  given(...older)
    .when(join('host-1', 4000, 'first'))
    .thenEvents(left('local', 'lost', null), joined('host-1', 4000, 'first', at), moved(1, 'host-1'))
})

test('sessions of a lost worker move to workers with room; the others wait', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [
    joined('gpu-0', 9000),
    admitted(1, { vram: 3000 }),
    admitted(2),
    joined('gpu-1', 2000),
    joined('gpu-2', 1500),
  ]
  given(...history).when(leave('gpu-0')).thenEvents(left('gpu-0'), moved(2, 'gpu-1'))
  given(...history).when(leave('gpu-0', 'another')).thenNothing()
  given(...history, left('gpu-0')).when(leave('gpu-0')).thenNothing()
  const after = fold(admissionDecider, [...history, left('gpu-0'), moved(2, 'gpu-1')])
  t.deepEqual(placementOf(after, 1), { worker: null, term: 1 })
  t.deepEqual(placementOf(after, 2), { worker: 'gpu-1', term: 2 })
  t.is(placementOf(after, 3), null)
  t.deepEqual(openOf(after, 'gpu-1').map(({ liveId }) => liveId), [2])
  t.is(reservedVram(after), 4000, 'a waiting session keeps its reservation')
})

test('waiting sessions are placed by the next release or join with room, the longest waiting first', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [
    joined('gpu-0', 1000), admitted(1), joined('gpu-1', 3000), admitted(2, { worker: 'gpu-1', vram: 3000 }),
    joined('gpu-2', 1000), admitted(3, { worker: 'gpu-2' }), left('gpu-2'), left('gpu-0'),
  ]
  given(...history)
    .when({ type: 'Release', liveId: 2, at })
    .thenEvents(released(2), moved(3, 'gpu-1'), moved(1, 'gpu-1'))
  given(...history).when(join('gpu-2', 1000)).thenEvents(joined('gpu-2', 1000, 'second', at), moved(3, 'gpu-2'))
  given(...history, released(3))
    .when(join('gpu-2', 1000))
    .thenEvents(joined('gpu-2', 1000, 'second', at), moved(1, 'gpu-2'))
  given(...history).when(place).thenNothing()
})

test('a join moves at most 200 sessions and reports that more remain', (t) => {
  const ids = Array.from({ length: 450 }, (_, index) => index + 1)
  let state = fold(admissionDecider, [joined('gpu-0', 9000), ...ids.map((liveId) => admitted(liveId, { vram: 10 }))])
  const sizes: Array<number> = []
  for (let command = join('gpu-0', 9000, 'second', false); ; command = place) {
    const decided = admissionDecider.decide(command, state)
    const events = E.isRight(decided) ? decided.right : []
    sizes.push(events.length)
    state = fold(admissionDecider, events, state)
    if (!isPlaceable(state, undefined)) break
  }
  t.deepEqual(sizes, [202, 200, 50])
  t.true(state.open.every(({ worker, term }) => worker === 'gpu-0' && term === 2))
  t.deepEqual(state.open.map(({ liveId }) => liveId), ids)
})

test('a session moves to the requested worker, or to any worker; a request with an old term is refused', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 1000), admitted(1), joined('gpu-1', 2000), joined('gpu-2', 3000)]
  given(...history).when(move(1, 1)).thenEvents(moved(1, 'gpu-2'))
  given(...history).when(move(1, 1, 'gpu-1')).thenEvents(moved(1, 'gpu-1'))
  given(...history, moved(1, 'gpu-1')).when(move(1, 1)).thenRefused({ _tag: 'MovedSince', term: 2 })
  given(...history, released(1)).when(move(1, 1)).thenNothing()
  given(joined('gpu-0', 1000), admitted(1))
    .when(move(1, 1))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
  given(joined('gpu-0', 1000), admitted(1), joined('gpu-1', 999))
    .when(move(1, 1, 'gpu-1'))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 999 })
  given(joined('gpu-0', 1000), admitted(1), joined('gpu-1', 1000))
    .when(move(1, 1, 'gpu-1'))
    .thenEvents(moved(1, 'gpu-1'))
})

const offering = new Map([['gpu-1', new Set(['tiny'])], ['gpu-2', new Set(['tiny', 'base', 'en-es'])]])

test('a session goes only to a worker with its model and translators, and waits when there is none', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [
    joined('gpu-0', 9000),
    joined('gpu-1', 9000),
    joined('gpu-2', 2000),
    admitted(1, { needs: ['base', 'en-es'] }),
    admitted(2),
    admitted(3, { needs: ['large'] }),
    admitted(4, { needs: null }),
  ]
  given(...history)
    .when({ ...leave('gpu-0'), offering })
    .thenEvents(left('gpu-0'), moved(1, 'gpu-2'), moved(2, 'gpu-1'), moved(4, 'gpu-1'))
  const waiting = fold(admissionDecider, [
    ...history,
    left('gpu-0'),
    moved(1, 'gpu-2'),
    moved(2, 'gpu-1'),
    moved(4, 'gpu-1'),
  ])
  t.false(isPlaceable(waiting, offering))
  const extended = new Map([...offering, ['gpu-2', new Set(['large'])]])
  t.true(isPlaceable(waiting, extended), 'the waiting session can move as soon as a worker offers the model')
  t.deepEqual(admissionDecider.decide({ ...place, offering: extended }, waiting), E.right([moved(3, 'gpu-2')]))
  given(...history).when({ ...move(1, 1), offering }).thenEvents(moved(1, 'gpu-2'))
  given(...history)
    .when({ ...move(1, 1, 'gpu-1'), offering })
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
  given(...history)
    .when({ ...move(2, 1), offering: new Map() })
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
})

test('a worker that was declared lost joins again in the same incarnation, and sessions return in new terms', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 1000), admitted(1), joined('gpu-1', 1000), left('gpu-0'), moved(1, 'gpu-1')]
  given(...history)
    .when(join('gpu-0', 1000, 'first'))
    .thenEvents(joined('gpu-0', 1000, 'first', at))
  const rejoined = [...history, joined('gpu-0', 1000, 'first', at)]
  given(...rejoined)
    .when(leave('gpu-1'))
    .thenEvents(left('gpu-1'), moved(1, 'gpu-0', 3))
  given(...rejoined)
    .when({ ...leave('gpu-1'), offering: new Map([['gpu-1', new Set(['tiny'])]]) })
    .thenEvents(left('gpu-1'))
})
