import type { Either } from 'fp-ts/lib/Either.js'
import type { JobKind } from '../../domain/jobs/events.ts'

export type JobStatus = 'running' | 'done' | 'failed' | 'cancelled'
export type JobUnit = 'bytes' | 'rows' | 'events'

/** The findings or the outcome of a job, as JSON. */
export type JobResult = Readonly<Record<string, unknown>>

/** A long task that an administrator started. */
export interface Job {
  readonly id: number
  readonly kind: JobKind
  /** Name of a speech model or a read model. Null: all of them. */
  readonly subject: string | null
  readonly status: JobStatus
  readonly progress: JobProgress
  readonly result: JobResult | null
  readonly actor: string
  /** Name of the process that runs the job. Null for jobs of early versions. */
  readonly process: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** Progress of a job, in the unit of its kind. */
export interface JobProgress {
  readonly done: number
  /** Null while it is unknown. */
  readonly total: number | null
  /** The present step, or why the job failed. */
  readonly detail: string
}

/** An administrator's request for a job. */
export interface JobOrder {
  readonly kind: JobKind
  readonly subject: string | null
  /** Precision of the downloaded weights. Null: the best available precision. */
  readonly precision: 'int8' | 'fp32' | 'fp16' | null
  /** True: replace an installed model. */
  readonly force: boolean
}

/** Runs the jobs of one kind. */
export interface JobRunner {
  /** Returns why the subject is invalid, such as “should name the model to pull”; null when it is valid. */
  readonly problem: (order: JobOrder) => string | null
  /** Runs the job. Left: the reason of a failure, as a text. When `signal` aborts, it ends early with any result. */
  readonly run: (
    order: JobOrder,
    report: (progress: Partial<JobProgress>) => void,
    signal: AbortSignal,
  ) => Promise<Either<string, JobResult>>
}

/** Null: this process does not run jobs of this kind. */
export type JobRunners = Readonly<Record<JobKind, JobRunner | null>>

export const NOTHING_DONE: JobProgress = { done: 0, total: null, detail: '' }

export const UNITS: Readonly<Record<JobKind, JobUnit>> = {
  pull: 'bytes', verify: 'bytes', check: 'rows', rebuild: 'events',
}
