import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/** The ONE stream that decides VRAM per worker, the quota of open sessions and the live id. Never truncated. */
export const ADMISSION_STREAM = 'admission'
/** State and revision of `admission` every 200 events, $maxCount 2: a cold load reads the last one. */
export const ADMISSION_SNAPSHOT_STREAM = 'admission-snapshot'

const megabytes = boundedInteger(0, 1e9)

export const CapacitySet = defineEvent('CapacitySet', t.strict({ worker: t.string, vram: megabytes, at: instant }))

export const Admitted = defineEvent(
  'Admitted',
  t.strict({ liveId: id, userId: id, worker: t.string, vram: megabytes, instance: t.string, commandId: t.string, at: instant }),
)

/** The live is run by this worker from now on, whoever ran it before. */
export const Moved = defineEvent('Moved', t.strict({ liveId: id, worker: t.string, term: boundedInteger(1, 1e9), at: instant }))

export const Released = defineEvent('Released', t.strict({ liveId: id, at: instant }))

export const admissionEvents = [CapacitySet, Admitted, Released] as const
export type AdmissionEvent = EventOf<(typeof admissionEvents)[number]>

export const reservation = t.strict({ liveId: id, userId: id, worker: t.string, vram: megabytes, instance: t.string, commandId: t.string, at: instant })
/** Megabytes of one worker held by one open live. */
export type Reservation = t.TypeOf<typeof reservation>

/** The whole state as JSON, with the revision of `admission` that it includes. */
export const AdmissionSnapshotTaken = defineEvent(
  'AdmissionSnapshotTaken',
  t.strict({
    revision: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    capacity: t.readonlyArray(t.strict({ worker: t.string, vram: megabytes })),
    open: t.readonlyArray(reservation),
    lastLiveId: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    /** Creates of the last 24 hours, so that a repeated command finds its live. */
    commands: t.readonlyArray(t.strict({ commandId: t.string, liveId: id, at: instant })),
  }),
)
export type AdmissionSnapshotTaken = EventOf<typeof AdmissionSnapshotTaken>
