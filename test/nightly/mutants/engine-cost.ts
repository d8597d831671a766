import type { Mutant } from './mutant.ts'

const SCHEDULER = 'test/unit/pipeline/scheduler.test.ts'
const POOL = 'test/e2e/engine/worker-pool.test.ts'
const PIPELINE = 'test/simulation/pipeline/attention-pipeline.test.ts'

/** The share of the engine that a session may use, and the order of waiting sessions. */
export const engineCostMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/pipeline/scheduler.ts',
    before: '=== true ? 0 : FINAL_PRIORITY_MS)',
    after: '=== true ? 0 : 0)',
    rows: ['jobs for finals run before drafts, even before drafts with a short max_delay on a busy engine'],
    test: SCHEDULER,
  },
  {
    file: 'application/pipeline/scheduler.ts',
    before: 'const FINAL_PRIORITY_MS = 5000',
    after: 'const FINAL_PRIORITY_MS = 1e9',
    rows: ['sessions that only request finals do not block the drafts of others'], test: SCHEDULER,
  },
  {
    file: 'application/pipeline/scheduler.ts',
    before: 'const device = engine.deviceOf(model)',
    after: "const device = { ...engine.deviceOf(model), name: 'cpu' as const }",
    rows: ['CPU jobs do not delay sessions on the GPU'], test: SCHEDULER,
  },
  {
    file: 'infrastructure/onnx/process/worker-pool.ts',
    before: 'if (model !== null && copiesOf(model) > 0 && tasksOf(model) <= copiesOf(model)) return null',
    after: '',
    rows: ['a task waits for the thread that has its model'], test: POOL,
  },
  {
    file: 'infrastructure/onnx/process/worker-pool.ts',
    before: 'emptiest.models.size === 0 || members.length >= options.size()',
    after: 'emptiest.models.size >= 0',
    rows: ['a task waits for the thread that has its model'], test: POOL,
  },
  {
    file: 'infrastructure/onnx/process/worker-pool.ts',
    before: '(copiesOf(model) > 1 ? keep.further : keep.only)',
    after: 'keep.further',
    rows: ['an unused additional copy is unloaded'], test: POOL,
  },
  {
    file: 'domain/admission/compute.ts',
    before: '    .filter(([model]) => deviceOf(model).name === device)\n',
    after: '',
    rows: ['sessions on one device take nothing from another device'],
    test: 'test/unit/domain/admission-compute.test.ts',
  },
  {
    file: 'application/pipeline/live-pipeline.ts',
    before: ', engine.passTime(model)?.usual)',
    after: ')',
    rows: ['drafts are at least two pass times apart, for any client setting'], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/by-attention/attention-policy.ts',
    before: 'openWords(state).length > 0 ? limits.probe : limits.interval',
    after: 'limits.probe',
    rows: ['without a detector silence costs no more passes than speech'], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/by-agreement/next-step.ts',
    before: 'phrase.regions.findLast(isPause)',
    after: 'phrase.regions.find(isPause)',
    rows: ['half a minute of backlog takes at most four passes and continues after its last pause'],
    test: 'test/unit/pipeline/live-pipeline.test.ts',
  },
  {
    file: 'application/pipeline/policy/by-agreement/next-step.ts',
    before: 'openWords(state).length > 0 ? limits.probe : limits.interval',
    after: 'limits.probe',
    rows: ['without a detector silence costs no more passes than speech'], test: PIPELINE,
  },
  {
    file: 'application/pipeline/policy/by-agreement/next-step.ts',
    before: 'boolean => vad && !onlyFinals',
    after: 'boolean => vad || !onlyFinals',
    rows: ['passes during speech are drafts, passes at a pause and at the end are not'],
    test: 'test/unit/pipeline/live-pipeline.test.ts',
  },
]
