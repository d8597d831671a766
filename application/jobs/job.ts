import type { Either } from 'fp-ts/lib/Either.js'
import type { JobKind } from '../../domain/jobs/events.ts'

export type JobStatus = 'running' | 'done' | 'failed' | 'cancelled'
export type JobUnit = 'bytes' | 'rows' | 'events'

/** What it found or made, as JSON. */
export type JobResult = Readonly<Record<string, unknown>>

/** Something that takes long, and that an administrator asked for. */
export interface Job {
  readonly id: number
  readonly kind: JobKind
  /** A model, or a read model; null for all. */
  readonly subject: string | null
  readonly status: JobStatus
  readonly progress: JobProgress
  readonly result: JobResult | null
  readonly actor: string
  /** Name of the process that does it; null where an older version did not write it down. */
  readonly process: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

/** How far it is, in the unit of its kind. */
export interface JobProgress {
  readonly done: number
  /** Null where nobody knows. */
  readonly total: number | null
  /** What it is at, or why it failed. */
  readonly detail: string
}

/** What an administrator asks for. */
export interface JobOrder {
  readonly kind: JobKind
  readonly subject: string | null
  /** Of the weights that are pulled; null for the best that there are. */
  readonly precision: 'int8' | 'fp32' | 'fp16' | null
  /** Whether an installed model is replaced. */
  readonly force: boolean
}

/** How jobs of one kind are done. */
export interface JobRunner {
  /** What is wrong with the subject, to be read after its name; null where nothing is. */
  readonly problem: (order: JobOrder) => string | null
  /** Left: why it failed, for people. Once `signal` aborts it ends as soon as it can, whatever it answers. */
  readonly run: (
    order: JobOrder,
    report: (progress: Partial<JobProgress>) => void,
    signal: AbortSignal,
  ) => Promise<Either<string, JobResult>>
}

/** Null: this process does none of the kind. */
export type JobRunners = Readonly<Record<JobKind, JobRunner | null>>

export const NOTHING_DONE: JobProgress = { done: 0, total: null, detail: '' }

export const UNITS: Readonly<Record<JobKind, JobUnit>> = {
  pull: 'bytes', verify: 'bytes', check: 'rows', rebuild: 'events',
}
