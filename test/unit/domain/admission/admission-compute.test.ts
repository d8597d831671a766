import test from 'ava'
import type { Compute } from '../../../../domain/admission/compute.ts'
import { admissionDecider } from '../../../../domain/admission/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import { admit, admitted, joined, moved } from './admission-samples.ts'
import { after } from '../../../support/events/sample-events.ts'

/** The part of a lane that a session takes, by model. A lane runs one pass of a model at a time. */
const SHARES: Readonly<Record<string, number>> = { tiny: 0.25, base: 0.5, huge: 1.25 }

const compute = (lanes: number, active: ReadonlyArray<number> = []): Compute =>
  ({ deviceOf: () => ({ name: 'cpu', lanes }), shareOf: (model) => SHARES[model] ?? 0, active: new Set(active) })

const candidate = (worker: string, lanes: number, rank = 0) => ({ worker, rank, compute: compute(lanes) })
const onOneWorker = (lanes: number, active: ReadonlyArray<number> = []) => ({
  candidates: [{ worker: 'gpu-0', rank: 0, compute: compute(lanes, active) }],
})

/** The sample sessions are admitted at `after(1000)`. This is one minute later. */
const A_MINUTE_LATER = after(61_000)

test('a session is admitted while its share of the lanes is free', (t) => {
  const { given } = specify(t, admissionDecider)
  const busy = [joined('gpu-0', 9000), admitted(1), admitted(2, { needs: ['base', 'mt-en-es'] })]
  given(...busy).when(admit(3, onOneWorker(1))).thenEvents(admitted(3))
  given(...busy)
    .when(admit(3, onOneWorker(0.99)))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0.24 })
  given(...busy)
    .when(admit(3, onOneWorker(0.5)))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0 })
  given(...busy).when(admit(3, onOneWorker(Infinity))).thenEvents(admitted(3))
  given(...busy).when(admit(3)).thenEvents(admitted(3))
})

test('a pending session occupies its share for one minute, an active session until its sender leaves', (t) => {
  const { given } = specify(t, admissionDecider)
  const waiting = [joined('gpu-0', 9000), admitted(1), admitted(2)]
  const refused = { _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0 } as const
  given(...waiting).when(admit(3, { ...onOneWorker(0.5), at: after(60_999) })).thenRefused(refused)
  given(...waiting)
    .when(admit(3, { ...onOneWorker(0.5), at: A_MINUTE_LATER }))
    .thenEvents(admitted(3, { at: A_MINUTE_LATER }))
  given(...waiting).when(admit(3, { ...onOneWorker(0.5, [1, 2]), at: A_MINUTE_LATER })).thenRefused(refused)
  given(...waiting)
    .when(admit(3, { ...onOneWorker(0.5, [1, 7]), at: A_MINUTE_LATER }))
    .thenEvents(admitted(3, { at: A_MINUTE_LATER }))
})

test('a pending session whose time lies far ahead occupies nothing, because a clock was ahead', (t) => {
  const { given } = specify(t, admissionDecider)
  const waiting = [joined('gpu-0', 9000), admitted(1, { at: after(365 * 24 * 3_600_000) }), admitted(2)]
  const at = A_MINUTE_LATER
  given(...waiting).when(admit(3, { ...onOneWorker(0.25), at })).thenEvents(admitted(3, { at }))
  given(...waiting)
    .when(admit(3, { ...onOneWorker(0.25, [1]), at }))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0 })
})

test('quota and memory are checked before compute', (t) => {
  const { given } = specify(t, admissionDecider)
  const full = [joined('gpu-0', 1999), admitted(1)]
  given(...full).when(admit(2, { ...onOneWorker(0), maxSessions: 1 })).thenRefused({ _tag: 'QuotaReached', maximum: 1 })
  given(...full).when(admit(2, onOneWorker(0))).thenRefused({ _tag: 'InsufficientVram', needed: 1000, free: 999 })
  given(joined('gpu-0', 2000), admitted(1)).when(admit(2, onOneWorker(0)))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0 })
})

test('a model that is too slow for a whole lane is refused, no matter how many lanes are free', (t) => {
  specify(t, admissionDecider).given(joined('gpu-0', 9000)).when(admit(1, { needs: ['huge'], ...onOneWorker(16) }))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 1.25, freeLanes: 1 })
})

test('a session goes to a worker with enough memory and lanes; other workers do not count', (t) => {
  const { given } = specify(t, admissionDecider)
  const workers = [joined('gpu-0', 9000), joined('gpu-1', 2000), joined('gpu-2', 500)]
  const candidates = [candidate('gpu-0', 0.1), candidate('gpu-1', 0.3, 5), candidate('gpu-2', 4)]
  given(...workers).when(admit(1, { candidates })).thenEvents(admitted(1, { worker: 'gpu-1' }))
  given(...workers, admitted(1, { worker: 'gpu-1' })).when(admit(2, { candidates }))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0.1 })
  given(...workers, admitted(1, { worker: 'gpu-1' }), moved(1, 'gpu-0'))
    .when(admit(2, { candidates }))
    .thenEvents(admitted(2, { worker: 'gpu-1' }))
})

test('sessions that an older version admitted without a model take no compute', (t) => {
  specify(t, admissionDecider)
    .given(joined('gpu-0', 9000), admitted(1, { needs: null }))
    .when(admit(2, onOneWorker(0.25)))
    .thenEvents(admitted(2))
})

test('sessions on one device take nothing from another device', (t) => {
  const deviceOf = (model: string) => (model === 'tiny' ? { name: 'cpu', lanes: 0.25 } : { name: 'gpu', lanes: 0.5 })
  const candidates = [{ worker: 'gpu-0', rank: 0, compute: { ...compute(0), deviceOf } }]
  const { given } = specify(t, admissionDecider)
  const busy = [joined('gpu-0', 9000), admitted(1)]
  given(...busy)
    .when(admit(2, { candidates }))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.25, freeLanes: 0 })
  given(...busy).when(admit(2, { candidates, needs: ['base'] })).thenEvents(admitted(2, { needs: ['base'] }))
})
