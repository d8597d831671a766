import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import {
  admissionDecider,
  fromSnapshot,
  liveIdOfCommand,
  reservedVram,
  toSnapshot,
  totalVram,
} from '../../domain/admission/decider.ts'
import type { AdmissionCommand } from '../../domain/admission/decider.ts'
import type { AdmissionEvent, Reservation } from '../../domain/admission/events.ts'
import { fold } from '../../domain/shared/decider.ts'
import { specify } from '../support/specify.ts'
import { after } from './samples.ts'

const HOUR = 3_600_000
const at = after(1000)

const capacity = (worker: string, vram: number): AdmissionEvent => ({ type: 'CapacitySet', data: { worker, vram, at: after(0) } })

const reservation = (liveId: number, changes: Partial<Reservation> = {}): Reservation => ({
  liveId, userId: 3, worker: 'gpu-0', vram: 1000, instance: 'api-1', commandId: `create-${liveId}`, at, ...changes,
})
const admitted = (liveId: number, changes: Partial<Reservation> = {}): AdmissionEvent => ({
  type: 'Admitted', data: reservation(liveId, changes),
})
const released = (liveId: number, when = at): AdmissionEvent => ({ type: 'Released', data: { liveId, at: when } })

/** A create by user 3 for 1,000 MB that would become live `liveId`. */
const admit = (liveId: number, changes: Partial<Extract<AdmissionCommand, { type: 'Admit' }>> = {}): AdmissionCommand => ({
  type: 'Admit', commandId: `create-${liveId}`, userId: 3, vram: 1000, maxSessions: 10, instance: 'api-1', at, ...changes,
})

test('the first live is number 1', (t) => {
  specify(t, admissionDecider).given(capacity('gpu-0', 4000)).when(admit(1)).thenEvents(admitted(1))
})

test('live ids go on counting after a release', (t) => {
  specify(t, admissionDecider).given(capacity('gpu-0', 4000), admitted(1), released(1)).when(admit(2)).thenEvents(admitted(2))
})

test('R59: exactly at capacity succeeds, one megabyte over fails', (t) => {
  const { given } = specify(t, admissionDecider)
  given(capacity('gpu-0', 2000), admitted(1)).when(admit(2)).thenEvents(admitted(2))
  given(capacity('gpu-0', 1999), admitted(1)).when(admit(2)).thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 999 })
})

test('R58: without any worker nothing is free', (t) => {
  specify(t, admissionDecider).given().when(admit(1)).thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
})

test('a live goes to the worker with the most megabytes left, the first by name among equals', (t) => {
  const { given } = specify(t, admissionDecider)
  const workers = [capacity('gpu-1', 3000), capacity('gpu-0', 3000)]
  given(...workers).when(admit(1)).thenEvents(admitted(1, { worker: 'gpu-0' }))
  given(...workers, admitted(1)).when(admit(2)).thenEvents(admitted(2, { worker: 'gpu-1' }))
  given(...workers, capacity('gpu-1', 9000)).when(admit(1)).thenEvents(admitted(1, { worker: 'gpu-1' }))
})

test('megabytes that are free on two workers together do not make room for one live', (t) => {
  specify(t, admissionDecider)
    .given(capacity('gpu-0', 800), capacity('gpu-1', 900))
    .when(admit(1))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 900 })
})

test("R60: the quota counts the user's own open lives; a released one frees a place", (t) => {
  const { given } = specify(t, admissionDecider)
  const busy = [capacity('gpu-0', 9000), admitted(1), admitted(2), admitted(3, { userId: 4 })]
  given(...busy).when(admit(4, { maxSessions: 2 })).thenRefused({ _tag: 'QuotaReached', maximum: 2 })
  given(...busy).when(admit(4, { maxSessions: 3 })).thenEvents(admitted(4))
  given(...busy, released(2)).when(admit(4, { maxSessions: 2 })).thenEvents(admitted(4))
  given(capacity('gpu-0', 9000)).when(admit(1, { maxSessions: 0 })).thenRefused({ _tag: 'QuotaReached', maximum: 0 })
})

test('R62: the quota is checked before the memory', (t) => {
  specify(t, admissionDecider)
    .given(capacity('gpu-0', 1000), admitted(1))
    .when(admit(2, { maxSessions: 1 }))
    .thenRefused({ _tag: 'QuotaReached', maximum: 1 })
})

test('a repeated create finds its live, even when that live has ended or nothing is free', (t) => {
  const { given } = specify(t, admissionDecider)
  const history = [capacity('gpu-0', 1000), admitted(1)]
  given(...history).when(admit(1, { maxSessions: 1 })).thenNothing()
  given(...history, released(1)).when(admit(1)).thenNothing()
  t.deepEqual(liveIdOfCommand(fold(admissionDecider, [...history, released(1)]), 'create-1'), O.some(1))
  t.deepEqual(liveIdOfCommand(fold(admissionDecider, history), 'create-2'), O.none)
})

test('a create is remembered for 24 hours of the log', (t) => {
  const first = [capacity('gpu-0', 9000), admitted(1, { at: after(0) })]
  const remembered = (last: AdmissionEvent): boolean => O.isSome(liveIdOfCommand(fold(admissionDecider, [...first, last]), 'create-1'))
  t.true(remembered(released(1, after(24 * HOUR))))
  t.false(remembered(released(1, after(24 * HOUR + 1))))
  t.false(remembered(admitted(2, { at: after(25 * HOUR) })))
})

test('more creates than one chunk holds are all found, and all forgotten in time', (t) => {
  const ids = Array.from({ length: 500 }, (_, index) => index + 1)
  const state = fold(admissionDecider, ids.map((liveId) => admitted(liveId, { at: after(liveId * 1000) })))
  t.true(ids.every((liveId) => O.isSome(liveIdOfCommand(state, `create-${liveId}`))))
  const later = admissionDecider.evolve(state, released(1, after(24 * HOUR + 300_500)))
  t.deepEqual(toSnapshot(later, 500).commands.map((command) => command.liveId), ids.slice(300))
  t.is(toSnapshot(state, 499).commands.length, 500, 'the earlier state still holds')
  t.deepEqual(toSnapshot(admissionDecider.evolve(state, released(1, after(48 * HOUR))), 500).commands, [])
})

test('releasing twice, or a live that was never admitted, is nothing to do', (t) => {
  const { given } = specify(t, admissionDecider)
  given(capacity('gpu-0', 1000), admitted(1)).when({ type: 'Release', liveId: 1, at }).thenEvents(released(1))
  given(capacity('gpu-0', 1000), admitted(1), released(1)).when({ type: 'Release', liveId: 1, at }).thenNothing()
  given().when({ type: 'Release', liveId: 9, at }).thenNothing()
})

test('setting the same capacity again is nothing to do', (t) => {
  const { given } = specify(t, admissionDecider)
  const event: AdmissionEvent = { type: 'CapacitySet', data: { worker: 'gpu-0', vram: 8000, at } }
  given().when({ type: 'SetCapacity', worker: 'gpu-0', vram: 8000, at }).thenEvents(event)
  given(capacity('gpu-0', 8000)).when({ type: 'SetCapacity', worker: 'gpu-0', vram: 8000, at }).thenNothing()
  given(capacity('gpu-0', 9000)).when({ type: 'SetCapacity', worker: 'gpu-0', vram: 8000, at }).thenEvents(event)
})

test('a capacity lowered below what is reserved evicts nobody and admits nobody', (t) => {
  const history = [capacity('gpu-0', 4000), admitted(1), admitted(2), capacity('gpu-0', 1500)]
  t.deepEqual(fold(admissionDecider, history).open, [reservation(1), reservation(2)])
  const { given } = specify(t, admissionDecider)
  given(...history).when(admit(3)).thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 0 })
  given(...history, released(1), released(2)).when(admit(3)).thenEvents(admitted(3))
})

test('R104: reserved and total megabytes are sums over open lives and workers', (t) => {
  const workers = [capacity('gpu-0', 4000), capacity('gpu-1', 500)]
  const state = fold(admissionDecider, [...workers, admitted(1), admitted(2, { vram: 700 }), released(1)])
  t.is(reservedVram(state), 700)
  t.is(totalVram(state), 4500)
})

test('a snapshot holds the whole state', (t) => {
  const state = fold(admissionDecider, [capacity('gpu-0', 4000), admitted(1), admitted(2), released(1)])
  const snapshot = toSnapshot(state, 3)
  t.deepEqual(snapshot, {
    revision: 3,
    capacity: [{ worker: 'gpu-0', vram: 4000 }],
    open: [reservation(2)],
    lastLiveId: 2,
    commands: [{ commandId: 'create-1', liveId: 1, at }, { commandId: 'create-2', liveId: 2, at }],
  })
  t.deepEqual(fromSnapshot(snapshot), state)
})
