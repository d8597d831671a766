import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent } from '../shared/event.ts'
import type { EventOf } from '../shared/event.ts'

/**
 * The ONE stream that decides VRAM per worker, the quota of open sessions, the live id and which worker runs a live.
 * Never truncated.
 */
export const ADMISSION_STREAM = 'admission'

export const megabytes = boundedInteger(0, 1e9)
/** 1 where a live was admitted, one more with each move. */
export const term = boundedInteger(1, Number.MAX_SAFE_INTEGER)
/** One process under its name; null for the worker of a version whose workers did not join (`CapacitySet`). */
export const incarnation = t.union([t.string, t.null])

/** What versions wrote whose workers did not join: the one worker that there was, and what it may reserve. */
export const CapacitySet = defineEvent('CapacitySet', t.strict({ worker: t.string, vram: megabytes, at: instant }))

/** A worker runs lives from now on, in so many megabytes; the same incarnation again has another number of them. */
export const WorkerJoined = defineEvent(
  'WorkerJoined',
  t.strict({ worker: t.string, incarnation: t.string, vram: megabytes, at: instant }),
)

/** A worker takes no further live; those that it runs stay. */
export const WorkerDraining = defineEvent('WorkerDraining', t.strict({ worker: t.string, incarnation, at: instant }))

/** A worker runs nothing any more: none of its reservations has a worker until a `Moved` of it stands. */
export const WorkerLeft = defineEvent(
  'WorkerLeft',
  t.strict({ worker: t.string, incarnation, reason: t.keyof({ lost: null, stopped: null, rejoined: null }), at: instant }),
)

export const Admitted = defineEvent(
  'Admitted',
  t.strict({
    liveId: id,
    userId: id,
    worker: t.string,
    vram: megabytes,
    /** Names of the model and the translators; null where an older version did not write them down. */
    needs: t.union([t.readonlyArray(t.string), t.null]),
    instance: t.string,
    commandId: t.string,
    at: instant,
  }),
)

/** The live is run by this worker from now on, whoever ran it before. */
export const Moved = defineEvent('Moved', t.strict({ liveId: id, worker: t.string, term, at: instant }))

export const Released = defineEvent('Released', t.strict({ liveId: id, at: instant }))

export type AdmissionEvent = EventOf<
  | typeof CapacitySet
  | typeof WorkerJoined
  | typeof WorkerDraining
  | typeof WorkerLeft
  | typeof Admitted
  | typeof Moved
  | typeof Released
>

/** `Admitted` as versions wrote it that did not write down what a live needs. */
export const upgradeAdmitted = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  'needs' in data ? data : { ...data, needs: null }
