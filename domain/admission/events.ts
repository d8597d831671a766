import * as t from 'io-ts'
import { boundedInteger, id, instant } from '../shared/codecs.ts'
import { defineEvent, type EventOf } from '../shared/event.ts'

/**
 * The one stream that decides session ids, the quota of open sessions, the memory of each worker and which worker runs
 * a session. It is never truncated.
 */
export const ADMISSION_STREAM = 'admission'

export const megabytes = boundedInteger(0, 1e9)
/** Leadership term of a worker for a session: 1 at admission, one more with each move to another worker. */
export const term = boundedInteger(1, Number.MAX_SAFE_INTEGER)
/**
 * Id of one run of a process, to tell it from other processes with the same name. Null for workers of early versions of
 * Stenolog, which wrote no `WorkerJoined` event.
 */
export const incarnation = t.union([t.string, t.null])

/**
 * Early versions wrote this event instead of `WorkerJoined`, for their only worker. `vram`: the megabytes that sessions
 * may reserve.
 */
export const CapacitySet = defineEvent('CapacitySet', t.strict({ worker: t.string, vram: megabytes, at: instant }))

/** A worker begins to run sessions with `vram` megabytes. The same incarnation can join again with another amount. */
export const WorkerJoined = defineEvent(
  'WorkerJoined',
  t.strict({ worker: t.string, incarnation: t.string, vram: megabytes, at: instant }),
)

/**
 * The process of a worker runs again. The worker keeps its sessions, and each of them enters its next term, which the
 * earlier incarnation does not have. Only the sessions in `waiting` lose the worker, because it lacks their memory or
 * their models now. Earlier versions wrote `WorkerLeft`, `WorkerJoined` and a `Moved` for each session instead.
 */
export const WorkerRestarted = defineEvent(
  'WorkerRestarted',
  t.strict({
    worker: t.string, incarnation: t.string, vram: megabytes, waiting: t.readonlyArray(id), at: instant,
  }),
)

/** A worker accepts no new sessions. Its running sessions stay. */
export const WorkerDraining = defineEvent('WorkerDraining', t.strict({ worker: t.string, incarnation, at: instant }))

/** A worker has stopped running sessions. Its reservations have no worker until `Moved` events assign new ones. */
export const WorkerLeft = defineEvent(
  'WorkerLeft',
  t.strict({
    worker: t.string,
    incarnation,
    reason: t.keyof({ lost: null, stopped: null, rejoined: null }),
    at: instant,
  }),
)

export const Admitted = defineEvent(
  'Admitted',
  t.strict({
    liveId: id,
    userId: id,
    worker: t.string,
    vram: megabytes,
    /** Names of the model and the translators. Null in events of early versions, which did not store them. */
    needs: t.union([t.readonlyArray(t.string), t.null]),
    instance: t.string,
    commandId: t.string,
    at: instant,
  }),
)

/** The session moves to another worker, which runs it in the new term. */
export const Moved = defineEvent('Moved', t.strict({ liveId: id, worker: t.string, term, at: instant }))

export const Released = defineEvent('Released', t.strict({ liveId: id, at: instant }))

/** A restore: sessions up to this id may have existed in the log that was replaced, so later ids are higher. */
export const LiveIdsSkipped = defineEvent('LiveIdsSkipped', t.strict({ through: id, at: instant }))

export type AdmissionEvent = EventOf<
  | typeof CapacitySet
  | typeof WorkerJoined
  | typeof WorkerRestarted
  | typeof WorkerDraining
  | typeof WorkerLeft
  | typeof Admitted
  | typeof Moved
  | typeof Released
  | typeof LiveIdsSkipped
>

/** Adds `needs: null` to events of early versions, which did not store the needed models. */
export const upgradeAdmitted = (data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  'needs' in data ? data : { ...data, needs: null }
