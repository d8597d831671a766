import test from 'ava'
import type { Compute } from '../../../../domain/admission/compute.ts'
import { admissionDecider } from '../../../../domain/admission/decider.ts'
import { spacesOf } from '../../../../domain/admission/worker-engines.ts'
import { initialState } from '../../../../domain/admission/state.ts'
import { specify } from '../../../support/tools/specify.ts'
import { admit, admitted, joined, reservation } from './admission-samples.ts'

/**
 * A worker with two engines, one for each GPU. Each engine has 4,000 MB and one lane, which runs one pass of a model at
 * a time. A session takes 0.6 of a lane, but none with the model `idle`. `sessions`: the session ids on each engine.
 */
const onTwoEngines = (...sessions: ReadonlyArray<ReadonlyArray<number>>) => {
  const engines = [0, 1].map((engine) => ({ vram: 4000, sessions: new Set(sessions[engine]) }))
  const active = new Set(sessions.flat())
  const compute: Compute = {
    deviceOf: () => ({ name: 'gpu', lanes: 2 }),
    shareOf: (model) => (model === 'idle' ? 0 : 0.6),
    active,
    engines,
  }
  return { candidates: [{ worker: 'gpu-0', rank: 0, compute }] }
}

test('a session that fits no single GPU is refused, however much all GPUs have free together', (t) => {
  const { given } = specify(t, admissionDecider)
  const empty = joined('gpu-0', 8000)
  given(empty).when(admit(1, { vram: 4001, ...onTwoEngines() }))
    .thenRefused({ _tag: 'InsufficientVram', needed: 4001, free: 4000 })
  given(empty).when(admit(1, { vram: 4000, ...onTwoEngines() })).thenEvents(admitted(1, { vram: 4000 }))
  const twoSessions = [empty, admitted(1, { vram: 3000 }), admitted(2, { vram: 2500 })]
  given(...twoSessions).when(admit(3, { vram: 1600, ...onTwoEngines([1], [2]) }))
    .thenRefused({ _tag: 'InsufficientVram', needed: 1600, free: 1500 })
  given(...twoSessions)
    .when(admit(3, { vram: 2500, ...onTwoEngines([1, 2], []) }))
    .thenEvents(admitted(3, { vram: 2500 }))
})

test('a session is refused when no GPU has both the memory and the lanes for it', (t) => {
  const { given } = specify(t, admissionDecider)
  const oneSession = [joined('gpu-0', 8000), admitted(1, { vram: 3500, needs: ['idle'] })]
  const twoSessions = [...oneSession, admitted(2, { vram: 100 })]
  given(...twoSessions).when(admit(3, { vram: 1000, ...onTwoEngines([1], [2]) }))
    .thenRefused({ _tag: 'InsufficientCompute', neededLanes: 0.6, freeLanes: 0.4 })
  given(...twoSessions).when(admit(3, { vram: 500, ...onTwoEngines([1], [2]) })).thenEvents(admitted(3, { vram: 500 }))
  given(...oneSession).when(admit(2, { vram: 1000, ...onTwoEngines([1]) })).thenEvents(admitted(2, { vram: 1000 }))
})

test('pending sessions are assigned to the GPU with the most free memory, largest session first', (t) => {
  const open = [[1, 1000], [2, 1500], [3, 3000]].map(([liveId = 0, vram = 0]) => reservation(liveId, { vram }))
  const engines = [{ vram: 4000, sessions: new Set([1]) }, { vram: 4000, sessions: new Set<number>() }]
  const spaces = spacesOf({ ...initialState, open }, { worker: 'gpu-0', engines, lanes: 2, lanesOf: () => 0.25 })
  t.deepEqual(spaces, [{ vram: 1500, lanes: 0.5 }, { vram: 1000, lanes: 0.75 }])
})
