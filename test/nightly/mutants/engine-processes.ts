import type { Mutant } from './mutant.ts'

const TASK_RUNNER = 'test/e2e/engine/task-runner.test.ts'
const PASS_LIMITS = 'test/unit/engine/pass-limits.test.ts'
const SUSPECTS = 'test/unit/engine/suspects.test.ts'
const TRANSLATIONS = 'test/unit/application/sessions/translations.test.ts'

/** Engine processes that die or hang, and slow translators. */
export const engineProcessMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'begunAt !== null || deaths >= MANY_DEATHS',
    after: 'begunAt !== null || deaths >= 0',
    rows: ['only a task that had begun can be blamed'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'if (late.length > 0) return late',
    after: '',
    rows: ['an overdue task fails'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'Math.ceil(suspects.length / 2)',
    after: '1',
    rows: ['the deadly task of eight is found by halving'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/task-runner.ts',
    before: 'if (reason === KILLED) width.halve()',
    after: '',
    rows: ['each SIGKILL halves the number of parallel tasks'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/task-runner.ts',
    before: 'if (reason === KILLED) width.halve()',
    after: 'width.halve()',
    rows: ['a death by SIGSEGV does not change the number of parallel tasks'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/task-runner.ts',
    before: 'detections.splice(0).forEach(send)\n',
    after: 'if (onTrial === null && trials.length === 0) detections.splice(0).forEach(send)\n',
    rows: ['detection goes on while the tasks of a dead process are repeated'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/task-runner.ts',
    before: 'const DEADLY_DETECTION = 2',
    after: 'const DEADLY_DETECTION = 1',
    rows: ['a detection that was running when the process died twice fails'], test: TASK_RUNNER,
  },
  {
    file: 'infrastructure/onnx/process/pass-limits.ts',
    before: 'MARGIN * known',
    after: 'known',
    rows: ['a pass may take five times as long as the measured trial pass'], test: PASS_LIMITS,
  },
  {
    file: 'infrastructure/onnx/process/pass-limits.ts',
    before: 'known === 0 ? Math.max(floor, unmeasured) : ',
    after: '',
    rows: ['an unmeasured model has the limit of a trial'], test: PASS_LIMITS,
  },
  {
    file: 'infrastructure/onnx/process/width.ts',
    before: 'FIRST_RECOVERY_MS * 2 ** (kills - 1)',
    after: 'FIRST_RECOVERY_MS',
    rows: ['the number of parallel tasks doubles ten minutes after a kill'], test: PASS_LIMITS,
  },
  {
    file: 'infrastructure/onnx/process/width.ts',
    before: 'Math.min(width, wanted)',
    after: 'wanted',
    rows: ['a restarted process runs as many tasks as it can'], test: PASS_LIMITS,
  },
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'const MANY_DEATHS = 3',
    after: 'const MANY_DEATHS = 4',
    rows: ['and the tasks in flight at three deaths'], test: SUSPECTS,
  },
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'likely.length > 0 ? likely : tasks',
    after: 'likely',
    rows: ['if no task had begun, all are suspects'], test: SUSPECTS,
  },
  {
    file: 'infrastructure/onnx/process/suspects.ts',
    before: 'Math.min(most, Math.ceil',
    after: 'Math.max(most, Math.ceil',
    rows: ['or in more groups if fewer may run at a time'], test: SUSPECTS,
  },
  {
    file: 'application/translation/translations.ts',
    before: 'queue.length <= MAX_WAITING',
    after: 'queue.length <= 6000',
    rows: ['a slow translator skips the oldest waiting segments, counts them and logs this once'], test: TRANSLATIONS,
  },
  {
    file: 'application/translation/translations.ts',
    before: 'if (!isBehind) logger.warn',
    after: 'logger.warn',
    rows: ['a slow translator skips the oldest waiting segments, counts them and logs this once'], test: TRANSLATIONS,
  },
]
