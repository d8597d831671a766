import test from 'ava'
import { jobsDecider, type JobCommand } from '../../../../domain/jobs/decider.ts'
import type { Stamped } from '../../../../domain/shared/decider.ts'
import type { JobEvent, JobKind } from '../../../../domain/jobs/events.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const startData = (jobId: number, kind: JobKind) => ({
  jobId,
  kind,
  subject: null,
  process: 'all-1',
  incarnation: 'first',
  at: after(0),
})
const endData = (jobId: number) =>
  ({ jobId, status: 'done', done: 0, total: null, detail: '', result: null, at: after(1) }) as const
const started = (jobId: number, kind: JobKind): JobEvent => ({ type: 'JobStarted', data: startData(jobId, kind) })
const ended = (jobId: number): JobEvent => ({ type: 'JobEnded', data: endData(jobId) })
const start = (jobId: number, kind: JobKind): Stamped<JobCommand> =>
  ({ type: 'Start', data: startData(jobId, kind), at: after(0) })
const end = (jobId: number): Stamped<JobCommand> => ({ type: 'End', data: endData(jobId), at: after(1) })

test('one job of each kind runs at a time, next to jobs of other kinds', (t) => {
  const { given } = specify(t, jobsDecider)
  given().when(start(1, 'pull')).thenEvents(started(1, 'pull'))
  given(started(1, 'pull')).when(start(2, 'pull')).thenRefused({ _tag: 'KindRunning' })
  given(started(1, 'pull')).when(start(2, 'check')).thenEvents(started(2, 'check'))
  given(started(1, 'pull'), ended(1)).when(start(2, 'pull')).thenEvents(started(2, 'pull'))
})

test('a job ends once, even when its start is no longer stored', (t) => {
  const { given } = specify(t, jobsDecider)
  given(started(1, 'pull')).when(end(1)).thenEvents(ended(1))
  given(started(1, 'pull'), ended(1)).when(end(1)).thenNothing()
  given(ended(1)).when(end(1)).thenNothing()
})
