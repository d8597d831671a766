import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** What administrators had the service do at length; only the newest events are kept. */
export const JOBS_STREAM = 'jobs'

export const jobKind = t.keyof({ pull: null, verify: null, check: null, rebuild: null })
export type JobKind = t.TypeOf<typeof jobKind>

/** Who asked for it says the metadata of the event. */
export const JobStarted = defineEvent(
  'JobStarted',
  t.strict({
    jobId: id,
    kind: jobKind,
    /** A model, or a read model; null for all. */
    subject: t.union([t.string, t.null]),
    /** Name of the process that does it, and its incarnation: null where an older version did not write them down. */
    process: t.union([t.string, t.null]),
    incarnation: t.union([t.string, t.null]),
    at: instant,
  }),
)

/** `JobStarted` as versions wrote it that did not write down which process does the job. */
export const upgradeJobStarted = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  'process' in data ? data : { ...data, process: null, incarnation: null }

export const JobEnded = defineEvent(
  'JobEnded',
  t.strict({
    jobId: id,
    status: t.keyof({ done: null, failed: null, cancelled: null }),
    /** How far it came, in the unit of its kind. */
    done: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    total: t.union([boundedInteger(0, Number.MAX_SAFE_INTEGER), t.null]),
    /** Why it failed, for people; empty otherwise. */
    detail: t.string,
    /** What it found or made. */
    result: t.union([t.UnknownRecord, t.null]),
    at: instant,
  }),
)

export type JobEvent = EventOf<typeof JobStarted | typeof JobEnded>
