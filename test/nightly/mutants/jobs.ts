import type { Mutant } from './mutant.ts'

const SHARED = 'test/unit/application/jobs/shared-jobs.test.ts'
const WATCH = 'test/unit/infrastructure/watch-models.test.ts'

/** Jobs that several processes know of, and models that a worker notices. */
export const jobMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/jobs/jobs.ts',
    before: '(!isShared || job.process === name)',
    after: 'true',
    rows: ['nothing that others do'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: 'jobs?.cancelling.forEach(running.abort)',
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
    rows: ['failed after some looks'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: '(await members.ownershipProblem()) === null',
    after: '(await members.ownershipProblem()) !== undefined',
    rows: ['failed after some looks'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: '    running.abortEnded()',
    after: '',
    rows: ['breaks it off when it comes back'], test: SHARED,
  },
  {
    file: 'application/jobs/shared-jobs.ts',
    before: "member.roles.includes('api') && member.jobs === null",
    after: 'false',
    rows: ['what an older version began'], test: SHARED,
  },
  {
    file: 'infrastructure/catalogue/watch-models.ts',
    before: 'now === known || !isSettled',
    after: 'now === known',
    rows: ['a new, changed or removed model is noticed once its files are stable, and nothing else'], test: WATCH,
  },
  {
    file: 'infrastructure/catalogue/watch-models.ts',
    before: '.filter((path) => !isHidden(path))',
    after: '',
    rows: ['a new, changed or removed model is noticed once its files are stable, and nothing else'], test: WATCH,
  },
]
