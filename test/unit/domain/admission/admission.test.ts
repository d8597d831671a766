import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { v7 } from 'uuid'
import { admissionDecider } from '../../../../domain/admission/decider.ts'
import { ADMISSION_STREAM, type AdmissionEvent } from '../../../../domain/admission/events.ts'
import { ADMISSION_SNAPSHOT_STREAM, fromSnapshot, toSnapshot } from '../../../../domain/admission/snapshot.ts'
import { liveIdOfCommand, reservedVram, totalVram } from '../../../../domain/admission/state.ts'
import { fold } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import { admit, admitted, at, joined, left, released, reservation, type AdmittedData } from './admission-samples.ts'
import { after } from '../../../support/events/sample-events.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

test('the first session has number 1', (t) => {
  specify(t, admissionDecider).given(joined('gpu-0', 4000)).when(admit(1)).thenEvents(admitted(1))
})

test('session ids continue after a release', (t) => {
  specify(t, admissionDecider)
    .given(joined('gpu-0', 4000), admitted(1), released(1))
    .when(admit(2))
    .thenEvents(admitted(2))
})

test('a session that fills the capacity exactly is admitted; one megabyte more is refused', (t) => {
  const { given } = specify(t, admissionDecider)
  given(joined('gpu-0', 2000), admitted(1)).when(admit(2)).thenEvents(admitted(2))
  given(joined('gpu-0', 1999), admitted(1))
    .when(admit(2))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 999 })
})

test('without any worker no session is admitted, and the refusal says so', (t) => {
  specify(t, admissionDecider).given().when(admit(1)).thenRefused({ _tag: 'NoWorker' })
})

test('a session goes to the worker with most free megabytes, the first by name among equals', (t) => {
  const { given } = specify(t, admissionDecider)
  const workers = [joined('gpu-1', 3000), joined('gpu-0', 3000)]
  given(...workers).when(admit(1)).thenEvents(admitted(1, { worker: 'gpu-0' }))
  given(...workers, admitted(1)).when(admit(2)).thenEvents(admitted(2, { worker: 'gpu-1' }))
  given(...workers, joined('gpu-1', 9000)).when(admit(1)).thenEvents(admitted(1, { worker: 'gpu-1' }))
})

test('free megabytes of two workers together do not make room for one session', (t) => {
  specify(t, admissionDecider)
    .given(joined('gpu-0', 800), joined('gpu-1', 900))
    .when(admit(1))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 900 })
})

test("the quota counts the user's own open sessions; after a release another session fits", (t) => {
  const { given } = specify(t, admissionDecider)
  const busy = [joined('gpu-0', 9000), admitted(1), admitted(2), admitted(3, { userId: 4 })]
  given(...busy).when(admit(4, { maxSessions: 2 })).thenRefused({ _tag: 'QuotaReached', maximum: 2 })
  given(...busy).when(admit(4, { maxSessions: 3 })).thenEvents(admitted(4))
  given(...busy, released(2)).when(admit(4, { maxSessions: 2 })).thenEvents(admitted(4))
  given(joined('gpu-0', 9000)).when(admit(1, { maxSessions: 0 })).thenRefused({ _tag: 'QuotaReached', maximum: 0 })
})

test('the quota is checked before the memory', (t) => {
  specify(t, admissionDecider)
    .given(joined('gpu-0', 1000), admitted(1))
    .when(admit(2, { maxSessions: 1 }))
    .thenRefused({ _tag: 'QuotaReached', maximum: 1 })
})

test('a repeated create finds its session, even if it has ended or nothing is free', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [joined('gpu-0', 1000), admitted(1)]
  given(...history).when(admit(1, { maxSessions: 1 })).thenNothing()
  given(...history, released(1)).when(admit(1)).thenNothing()
  t.deepEqual(liveIdOfCommand(fold(admissionDecider, [...history, released(1)]), 'create-1'), O.some(1))
  t.deepEqual(liveIdOfCommand(fold(admissionDecider, history), 'create-2'), O.none)
})

test('a second release, or a release of an unknown session, does nothing', (t) => {
  const { given } = specify(t, admissionDecider)
  given(joined('gpu-0', 1000), admitted(1)).when({ type: 'Release', liveId: 1, at }).thenEvents(released(1))
  given(joined('gpu-0', 1000), admitted(1), released(1)).when({ type: 'Release', liveId: 1, at }).thenNothing()
  given().when({ type: 'Release', liveId: 9, at }).thenNothing()
})

test('a capacity below the reservations evicts no session and admits no session', (t) => {
  const history = [joined('gpu-0', 4000), admitted(1), admitted(2), joined('gpu-0', 1500)]
  t.deepEqual(fold(admissionDecider, history).open, [reservation(1), reservation(2)])
  const { given } = specify(t, admissionDecider)
  given(...history).when(admit(3)).thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
  given(...history, released(1), released(2)).when(admit(3)).thenEvents(admitted(3))
})

test('reserved and total megabytes are sums over open sessions and workers', (t) => {
  const workers = [joined('gpu-0', 4000), joined('gpu-1', 500)]
  const state = fold(admissionDecider, [...workers, admitted(1), admitted(2, { vram: 700 }), released(1)])
  t.is(reservedVram(state), 700)
  t.is(totalVram(state), 4500)
})

test('a create is remembered for ten minutes; a create that an older version stored, for 24 hours', (t) => {
  const remembered = (needs: AdmittedData['needs'], ms: number): boolean => {
    const history = [joined('gpu-0', 9000), admitted(1, { needs, at: after(0) })]
    return O.isSome(liveIdOfCommand(fold(admissionDecider, [...history, released(1, after(ms))]), 'create-1'))
  }
  t.true(remembered(['tiny'], 10 * MINUTE))
  t.false(remembered(['tiny'], 10 * MINUTE + 1))
  t.true(remembered(null, 24 * HOUR))
  t.false(remembered(null, 24 * HOUR + 1))
})

test('many create commands are all found, and all forgotten in time', (t) => {
  const ids = Array.from({ length: 500 }, (_, index) => index + 1)
  const state = fold(admissionDecider, ids.map((liveId) => admitted(liveId, { at: after(liveId * 1000) })))
  t.true(ids.every((liveId) => O.isSome(liveIdOfCommand(state, `create-${liveId}`))))
  const later = admissionDecider.evolve(state, released(1, after(10 * MINUTE + 300_500)))
  t.deepEqual(toSnapshot(later, 500).commands.map(([, liveId]) => liveId), ids.slice(300))
  t.is(toSnapshot(state, 499).commands.length, 500, 'the earlier state is unchanged')
  t.deepEqual(toSnapshot(admissionDecider.evolve(state, released(1, after(HOUR))), 500).commands, [])
})

test('only the latest 4,000 create commands are remembered', (t) => {
  const ids = Array.from({ length: 4500 }, (_, index) => index + 1)
  const state = fold(admissionDecider, ids.flatMap((liveId) => [admitted(liveId), released(liveId)]))
  t.deepEqual(toSnapshot(state, 0).commands.map(([, liveId]) => liveId), ids.slice(500))
})

test('of the candidates with room the one with the lowest rank is chosen', (t) => {
  const { given } = specify(t, admissionDecider)
  const workers = [joined('gpu-0', 9000), joined('gpu-1', 3000), joined('gpu-2', 500)]
  const ranked = (...ranks: ReadonlyArray<number>) =>
    admit(1, { candidates: ranks.map((rank, index) => ({ worker: `gpu-${index}`, rank })) })
  given(...workers).when(ranked(1, 0, 2)).thenEvents(admitted(1, { worker: 'gpu-1' }))
  given(...workers).when(ranked(1, 1, 0)).thenEvents(admitted(1, { worker: 'gpu-0' }))
  given(...workers)
    .when(admit(1, { candidates: [{ worker: 'gpu-1', rank: 7 }] }))
    .thenEvents(admitted(1, { worker: 'gpu-1' }))
  given(...workers).when(admit(1, { candidates: [] })).thenRefused({ _tag: 'NoWorker' })
  given(...workers)
    .when(admit(1, { candidates: [{ worker: 'gpu-9', rank: 0 }] }))
    .thenRefused({ _tag: 'NoWorker' })
})

test('a snapshot has at most 64 KiB in normal operation, and 900 kB with 20,000 sessions and 4,000 commands', (t) => {
  const bytesOf = (open: number, creates: number): number => {
    const admissions = Array.from({ length: creates }, (_, index): AdmissionEvent =>
      admitted(10_000_000 + index, {
        userId: 1_000_000 + index,
        commandId: v7(),
        instance: '0195f3a0-7c1e-7d10-8a55-1b2c3d4e5f60',
        needs: ['whisper-large-v3-turbo', 'opus-mt-en-es', 'opus-mt-en-fr'],
        at: after(index * 100),
      }),
    )
    const releases = admissions.slice(open).map((_, index) => released(10_000_000 + index))
    const state = fold(admissionDecider, [...admissions, ...releases])
    return JSON.stringify(toSnapshot(state, 10_000_000)).length
  }
  // Normal operation: 50,000 creates a day. A day has 144 periods of ten minutes, for which a create is remembered.
  t.true(bytesOf(100, Math.ceil(50_000 / 144)) <= 64 * 1024)
  const largest = bytesOf(20_000, 20_000)
  t.log(`${largest} bytes`)
  t.true(largest <= 900_000)
})

test('the snapshot stream does not match the prefix of the admission stream', (t) => {
  t.false(ADMISSION_SNAPSHOT_STREAM.startsWith(ADMISSION_STREAM))
})

test('a snapshot holds the whole state, and stores once what sessions have in common', (t) => {
  const history = [
    joined('gpu-0', 4000),
    joined('gpu-1', 1000),
    admitted(1, { needs: null }),
    admitted(2),
    admitted(3, { worker: 'gpu-1' }),
    released(1),
    left('gpu-1'),
  ]
  const state = fold(admissionDecider, history)
  const snapshot = toSnapshot(state, 6)
  const micros = Date.parse(at) * 1000 + Number(at.slice(23, 26))
  t.deepEqual(snapshot, {
    revision: 6,
    workers: [{ worker: 'gpu-0', incarnation: 'first', vram: 4000, isDraining: false }],
    names: ['gpu-0', 'tiny', 'api-1'],
    kinds: [[0, 1, 1000, [1], 2], [null, 1, 1000, [1], 2]],
    open: [[2, 3, 0, micros], [1, 3, 1, 0]],
    lastLiveId: 3,
    commands: [['create-2', 2, Date.parse(at)], ['create-3', 3, Date.parse(at)]],
    earlierCommands: [['create-1', 1, Date.parse(at)]],
  })
  t.deepEqual(fromSnapshot(snapshot), state)
  t.throws(() => fromSnapshot({ ...snapshot, names: [] }), { message: /no name with index 0/ })
  t.throws(() => fromSnapshot({ ...snapshot, kinds: [] }), { message: /no kind with index 0/ })
})
