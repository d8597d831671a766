import type { Mutant } from './mutant.ts'

const SHARED = 'test/unit/application/jobs/shared-jobs.test.ts'
const WATCH = 'test/unit/infrastructure/watch-models.test.ts'

/** Jobs that several processes see, and new models that a worker notices. */
export const jobMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/jobs/jobs.ts',
    before: '(!isShared || job.process === name)',
    after: 'true',
    rows: ['a starting process ends the jobs of its earlier run and no others'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: 'jobs?.cancelling.forEach(running.cancel)',
    after: 'void jobs',
    rows: [171], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: 'const jobs = { doing: running.progress(),',
    after: 'const jobs = { doing: [],',
    rows: [170], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: 'const CHECKS_BEFORE_END = 4',
    after: 'const CHECKS_BEFORE_END = 1',
    rows: ['the job of a removed member fails after several checks by a member that is not cut off'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: '(await members.ownershipProblem()) === null',
    after: '(await members.ownershipProblem()) !== undefined',
    rows: ['the job of a removed member fails after several checks by a member that is not cut off'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: '    running.cancelEnded()',
    after: '',
    rows: ['the job of a lost process fails once, and the process stops it when it returns'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: "member.roles.includes('api') && member.jobs === null",
    after: 'false',
    rows: ['a job of an older version fails once no member can be running it'], test: SHARED,
  },
  {
    file: 'infrastructure/catalogue/watch-models.ts',
    before: 'now === known || !isSettled',
    after: 'now === known',
    rows: ['only a new, changed or removed model starts a scan, once its files are stable'], test: WATCH,
  },
  {
    file: 'infrastructure/catalogue/watch-models.ts',
    before: '.filter((path) => !isHidden(path))',
    after: '',
    rows: ['only a new, changed or removed model starts a scan, once its files are stable'], test: WATCH,
  },
]
