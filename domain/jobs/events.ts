import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/** Long tasks that administrators start. Only the newest events are kept. */
export const JOBS_STREAM = 'jobs'

export const jobKind = t.keyof({ pull: null, verify: null, check: null, rebuild: null })
export type JobKind = t.TypeOf<typeof jobKind>

/** The metadata of the event names the administrator. */
export const JobStarted = defineEvent(
  'JobStarted',
  t.strict({
    jobId: id,
    kind: jobKind,
    /** Name of a speech model or a read model. Null: all of them. */
    subject: t.union([t.string, t.null]),
    /** The process that runs the job, and its incarnation. Null in events of early versions. */
    process: t.union([t.string, t.null]),
    incarnation: t.union([t.string, t.null]),
    at: instant,
  }),
)

/** Adds null members to events of early versions, which did not store the process. */
export const upgradeJobStarted = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  'process' in data ? data : { ...data, process: null, incarnation: null }

export const JobEnded = defineEvent(
  'JobEnded',
  t.strict({
    jobId: id,
    status: t.keyof({ done: null, failed: null, cancelled: null }),
    /** Completed part of `total`, in the unit of the kind of job. */
    done: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    total: t.union([boundedInteger(0, Number.MAX_SAFE_INTEGER), t.null]),
    /** Why the job failed, for people. Empty when it did not fail. */
    detail: t.string,
    /** The findings or the outcome. */
    result: t.union([t.UnknownRecord, t.null]),
    at: instant,
  }),
)

export type JobEvent = EventOf<typeof JobStarted | typeof JobEnded>
