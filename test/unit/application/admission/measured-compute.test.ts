import test from 'ava'
import { measuredCompute } from '../../../../application/admission/measured-compute.ts'
import { NO_ABILITIES } from '../../../../application/ports/catalogue.ts'
import type { PassTime } from '../../../../application/ports/engine.ts'
import { initialState } from '../../../../domain/admission/state.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { reservation } from '../../domain/admission/admission-samples.ts'

const BASE = { id: 1, name: 'base', active: true, vram: 300, createdAt: '', updatedAt: null, ...NO_ABILITIES }

const world = (
  options: { readonly pass?: PassTime; readonly overcommit?: number; readonly running?: ReadonlyArray<number> } = {},
) => {
  const logger = createRecordingLogger()
  const state = { ...initialState, open: [reservation(1, { needs: ['base'] }), reservation(2, { needs: ['base'] })] }
  const compute = measuredCompute({
    engine: { deviceOf: () => ({ name: 'cpu', lanes: 2 }), passTime: () => options.pass ?? null },
    catalogue: { models: () => [BASE] },
    admission: { state: () => state },
    store: { now: () => Date.parse('2026-11-21T09:30:00Z') },
    logger,
    worker: 'gpu-0',
    running: () => options.running ?? [],
    overcommit: options.overcommit ?? 1,
  })
  return { ...compute, lines: logger.lines }
}

const pass = (seconds: number): PassTime => ({ usual: seconds, least: seconds })

/** Average passes (runs of the model) per draft. Their time, divided by the interval between drafts, is the share. */
const PASSES_PER_DRAFT = 1.4

test('the share of a session follows from the duration of a pass and the interval between its passes', (t) => {
  const share = (time: PassTime): number => world({ pass: time }).forModel(BASE, 60).shareOf('base')
  t.is(share(pass(0.2)), PASSES_PER_DRAFT * 0.2)
  t.is(share(pass(4)), 0.7, 'a slow model runs less often')
  t.is(share(pass(36)), 1.2, 'a model that is slower than real time never keeps up')
  t.is(share({ usual: 36, least: 20 }), 0.7, 'a busy machine does not count as a slow model')
  const delayed = { usual: 4, least: 0.2, busy: 0.2 }
  t.is(share(delayed), PASSES_PER_DRAFT * 0.2, 'waiting for other programs does not raise the cost')
})

test('the cost of an unmeasured model is estimated by its size, and such a model is never refused as too slow', (t) => {
  t.is(world().forModel(BASE, 5).shareOf('base'), PASSES_PER_DRAFT * 0.3)
  t.is(world().forModel(BASE, 5).shareOf('unknown'), 0)
})

test('OVERCOMMIT multiplies the lanes that sessions can use', (t) => {
  t.is(world().forModel(BASE, 5).deviceOf('base').lanes, 2)
  t.is(world({ overcommit: 1.5 }).forModel(BASE, 5).deviceOf('base').lanes, 3)
})

test('OVERCOMMIT=0 refuses no session and warns about too many', (t) => {
  const running = [1, 2]
  const enough = world({ overcommit: 0, running, pass: pass(0.2) })
  t.is(enough.forModel(BASE, 5).deviceOf('base').lanes, Infinity)
  t.deepEqual(enough.lines, [])
  const few = world({ overcommit: 0, running, pass: pass(1) })
  t.is(few.forModel(BASE, 5).deviceOf('base').lanes, Infinity)
  t.like(few.lines, [{ level: 'warn', fields: { model: 'base', neededLanes: 0.7, freeLanes: 2 - PASSES_PER_DRAFT } }])
})

test('the log warns about a model whose passes take longer than max_delay', (t) => {
  const slow = world({ pass: pass(6) })
  slow.forModel(BASE, 10)
  t.deepEqual(slow.lines, [])
  slow.forModel(BASE, 5)
  t.like(slow.lines, [{ level: 'warn', fields: { model: 'base', passSeconds: 6, maxDelay: 5 } }])
})

test('the metrics show the lanes and their used part', (t) => {
  const { lanes, taken } = world({ running: [1], pass: pass(0.5) })
  t.is(lanes(), 2)
  t.is(taken(), 0.7)
})
