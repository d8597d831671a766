import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { type Job, UNITS } from '../../../../application/jobs/job.ts'
import type { Jobs } from '../../../../application/jobs/jobs.ts'
import { jobKind } from '../../../../domain/jobs/events.ts'
import { boundedString, instant } from '../../../../domain/shared/codecs.ts'
import { count, sliceOf, list, messageView, nullable, presentPage, single } from '../../codecs/presenters.ts'
import { pageOf, pagination, pathId } from '../../codecs/request-codecs.ts'
import { members, optional, repeated } from '../../codecs/validation.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute, type Route } from '../../route.ts'

export interface AdminJobCalls {
  readonly jobs: Pick<Jobs, 'start' | 'list' | 'get' | 'cancel'>
}

const jobStatus = t.keyof({ running: null, done: null, failed: null, cancelled: null })

const jobView = t.strict(
  {
    id: count,
    kind: jobKind,
    /** Name of a model or a read model. Null for all. */
    subject: nullable(t.string),
    status: jobStatus,
    done: count,
    total: nullable(count),
    unit: t.keyof({ bytes: null, rows: null, events: null }),
    /** Current step, or the reason of the failure. */
    detail: t.string,
    result: nullable(t.UnknownRecord),
    actor: t.string,
    /** Name of the process that runs the job. Null for a job of an older version. */
    process: nullable(t.string),
    created_at: instant,
    updated_at: instant,
  },
  'Job',
)

const jobBody = members({
  kind: jobKind,
  subject: optional(boundedString(1, 200), null),
  precision: optional(t.keyof({ int8: null, fp32: null, fp16: null }), null),
  force: optional(t.boolean, false),
})

const presentJob = ({ id, kind, subject, status, progress, result, actor, ...job }: Job): t.TypeOf<typeof jobView> => ({
  id,
  kind,
  subject,
  status,
  done: progress.done,
  total: progress.total,
  unit: UNITS[kind],
  detail: progress.detail,
  result,
  actor,
  process: job.process,
  created_at: job.createdAt,
  updated_at: job.updatedAt,
})

const startJob = privateRoute(
  'admin',
  {
    operationId: 'startJob',
    summary: 'Start a job: pull or verify models, check stored data, rebuild read models; one job of a kind at a time',
    method: 'POST',
    path: '/admin/jobs',
    body: { kind: 'json', codec: jobBody },
    response: { codec: single(jobView) },
    refusals: ['JobSubjectInvalid', 'JobRunning', 'ModelsElsewhere', ...UNAVAILABLE],
  },
  async ({ body, caller }, { jobs }: AdminJobCalls) => {
    const job = await jobs.start(caller, body)
    return E.isLeft(job) ? job : E.right({ data: presentJob(job.right) })
  },
)

const listJobs = privateRoute(
  'admin',
  {
    operationId: 'listJobs',
    summary: 'List the recent jobs, newest first',
    method: 'GET',
    path: '/admin/jobs',
    query: members({ ...pagination, kind: repeated(jobKind), status: repeated(jobStatus) }),
    response: { codec: list(jobView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, { jobs }: AdminJobCalls) => {
    const page = pageOf(query)
    const found = await jobs.list(query.kind, query.status)
    return E.isLeft(found) ? found : E.right(await presentPage(sliceOf(found.right, page), page, presentJob))
  },
)

const getJob = privateRoute(
  'admin',
  {
    operationId: 'getJob',
    summary: 'Get one job with its progress',
    method: 'GET',
    path: '/admin/jobs/:id',
    params: pathId,
    response: { codec: single(jobView) },
    refusals: ['JobNotFound', ...UNAVAILABLE],
  },
  async ({ params }, { jobs }: AdminJobCalls) => {
    const job = await jobs.get(params.id)
    return E.isLeft(job) ? job : E.right({ data: presentJob(job.right) })
  },
)

const cancelJob = privateRoute(
  'admin',
  {
    operationId: 'cancelJob',
    summary: 'Cancel a running job; some jobs first complete their current step',
    method: 'DELETE',
    path: '/admin/jobs/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['JobNotFound', ...UNAVAILABLE],
  },
  async ({ params }, { jobs }: AdminJobCalls) => {
    const cancelled = await jobs.cancel(params.id)
    return E.isLeft(cancelled) ? cancelled : E.right({ message: 'Job cancelled' })
  },
)

export const adminJobRoutes: ReadonlyArray<Route<AdminJobCalls>> = [startJob, listJobs, getJob, cancelJob]
