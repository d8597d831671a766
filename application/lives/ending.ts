import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Superseded } from '../../domain/live/commands.ts'
import { type EndCause, type LiveAborted, liveKey, liveStream, textKey } from '../../domain/live/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import type { AdmissionActor } from '../admission/admission-actor.ts'
import type { Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { type Origin, ownOrigin, type Repeatable } from '../log/origin.ts'
import { sendToSession } from '../log/send-to.ts'
import { deleteSnapshots } from '../log/states/stream-snapshots.ts'
import type { EventStore, Position } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { type Projector, SESSION_LISTS } from '../ports/projector.ts'
import { atMost } from '../waiting.ts'

/*
 * How a session ends: its worker is asked to end it, the end is appended, the reservation is released, and, when the
 * session is deleted, its keys are erased. Each step may be repeated. After a crash between two steps,
 * `policies/reconcile-lives.ts` releases and `policies/erase-deleted-lives.ts` erases. The writer of an end tells its
 * own sockets, and the log tells those of every other process (`policies/detect-ends.ts`).
 */

/**
 * The dependencies of writes that end sessions. Every open session has a reservation of memory in the stream
 * `admission`.
 */
export interface LiveWriteDeps extends WriteDeps {
  readonly admission: AdmissionActor
}

/** The end of a session by its owner, an administrator or a time limit. */
export interface EndRequest {
  readonly cause: EndCause
  readonly origin: Origin
  /** Maximum milliseconds for transcribing the audio that was already received. */
  readonly limitMs: number
}

/** A stored end. */
export interface Ended {
  /** Position of the event that ended the session. Null when another end was stored first. */
  readonly position: Position | null
}

/**
 * Sends an end request to the worker of a session. The worker finishes transcribing, then appends the end and retries
 * until it is stored. Resolves to null when the worker loses the session. Returns null when no worker runs the session.
 */
export type EndByWorker = (liveId: number, end: EndRequest) => Promise<Ended | null> | null

export interface EndDeps extends LiveWriteDeps {
  readonly endByWorker: EndByWorker
}

/** An end by the worker of the session. */
export interface EndOfTerm {
  readonly term: number
  readonly cause: EndCause
  readonly origin: Origin
}

/** Longest time to transcribe received audio when an owner, an administrator or a time limit ends the session. */
const FLUSH_LIMIT_MS = 2000
/** Longest wait for the answer of the worker: longer than FLUSH_LIMIT_MS, shorter than the time limit of a request. */
const ANSWER_MS = 4000

/**
 * Step 1. Asks the worker of a session to transcribe its last audio and to end it. The request is sent at once. Null:
 * no worker runs the session, or it answers too late.
 */
export const askWorkerToEnd = async (
  { endByWorker, timers }: Pick<EndDeps, 'endByWorker' | 'timers'>,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): Promise<Ended | null> => {
  let answer: Ended | null = null
  const answered = endByWorker(liveId, { cause, origin, limitMs: FLUSH_LIMIT_MS })?.then((ended) => { answer = ended })
  if (answered !== undefined) await atMost(timers, ANSWER_MS, answered)
  return answer
}

/**
 * Step 3. Releases the memory of a session and its place in the user's quota. Call it only for a session that has ended
 * or can never be created (fenced), because any other session could still run.
 */
export const releaseLive = async (
  { admission }: LiveWriteDeps,
  liveId: number,
  origin: Origin,
): Promise<Either<Unavailable, void>> =>
  E.map(() => undefined)(await admission.send({ ...origin, command: { type: 'Release', liveId } }))

export interface EraseLiveDeps {
  readonly store: Pick<EventStore, 'read' | 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
}

/** Step 4. Erases the keys of a session, so its URL, tokens and text become unreadable in every copy. */
export const eraseLive = async (
  { store, keyring }: EraseLiveDeps,
  liveId: number,
): Promise<Either<Unavailable, void>> => {
  const erased = await keyring.erase([liveKey(liveId), textKey(liveId)])
  if (E.isLeft(erased)) return erased
  const deleted = await store.deleteStream(segmentsStream(liveId))
  return E.isLeft(deleted) ? deleted : await deleteSnapshots(store, liveStream(liveId))
}

/** Releases after step 2. Returns the position of the appended end. */
const thenRelease = async (
  deps: LiveWriteDeps,
  liveId: number,
  origin: Origin,
  { position }: Ended,
): Promise<Either<Unavailable, Position | null>> => E.map(() => position)(await releaseLive(deps, liveId, origin))

/**
 * Steps 2 and 3, by anyone but the worker. Appends the end (LiveFinished or LiveFailed), then releases. A repeated call
 * appends nothing, but releases a reservation that an earlier call could not release. Returns the position of the end
 * when this call ended the session, otherwise null.
 */
export const endAndRelease = async (
  deps: LiveWriteDeps,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const ended = await sendToSession(deps)(liveId, { type: 'EndLive', cause }, origin)
  if (E.isRight(ended)) return await thenRelease(deps, liveId, origin, ended.right)
  return ended.left._tag === 'LiveUnknown' ? E.right(null) : E.left(ended.left)
}

/** Steps 2 and 3, by the worker of the session. Left `Superseded`: another worker runs it in a later term. */
export const endInTerm = async (
  deps: LiveWriteDeps,
  liveId: number,
  { term, cause, origin }: EndOfTerm,
): Promise<Either<Superseded | Unavailable, Position | null>> => {
  const ended = await sendToSession(deps)(liveId, { type: 'EndLiveInTerm', term, cause }, origin)
  if (E.isRight(ended)) return await thenRelease(deps, liveId, origin, ended.right)
  return ended.left._tag === 'LiveUnknown' ? E.right(null) : E.left(ended.left)
}

/** Steps 1 to 3. If no worker answers, appends the end itself. Returns the same as `endAndRelease`. */
export const requestEnd = async (
  deps: EndDeps,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const ended = await askWorkerToEnd(deps, liveId, cause, origin)
  return ended === null ? await endAndRelease(deps, liveId, cause, origin) : E.right(ended.position)
}

/**
 * Steps 2 to 4. Appends LiveDeleted, for a running session together with LiveFinished, then releases and erases.
 * Returns the position of LiveDeleted when this call appended it, otherwise null.
 */
export const removeLive = async (
  deps: LiveWriteDeps,
  liveId: number,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const deleted = await sendToSession(deps)(liveId, { type: 'DeleteLive' }, origin)
  if (E.isLeft(deleted)) return deleted.left._tag === 'LiveUnknown' ? E.right(null) : E.left(deleted.left)
  const released = await thenRelease(deps, liveId, origin, deleted.right)
  if (E.isLeft(released)) return released
  return E.map(() => released.right)(await eraseLive(deps, liveId))
}

/**
 * Ends a create that did not complete. With LiveAborted as the first event of the stream (a fence), it can never
 * complete. Then releases. Changes nothing if the create has completed.
 */
export const abortLive = async (
  deps: LiveWriteDeps,
  { liveId, userId, reason }: Pick<EventOf<typeof LiveAborted>['data'], 'liveId' | 'userId' | 'reason'>,
  origin: Origin,
): Promise<Either<Unavailable, void>> => {
  const fenced = await sendToSession(deps)(liveId, { type: 'AbortLive', liveId, userId, reason }, origin)
  if (E.isRight(fenced)) return await releaseLive(deps, liveId, origin)
  return fenced.left._tag === 'AlreadyCreated' ? E.right(undefined) : E.left(fenced.left)
}

/**
 * The end of a session by the process that runs it: `endInTerm`, then waits until the read models show the end. From
 * then on its sockets may be told. Null: another end was stored first, and the log tells it. Without an origin, the
 * worker ends the session on its own.
 */
export type EndLive = (
  liveId: number,
  end: Omit<EndOfTerm, 'origin'> & { readonly origin: Origin | null },
) => Repeatable<Superseded | Unavailable, Position | null>

export interface EndLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

export const endLive =
  (deps: EndLiveDeps): EndLive =>
  (liveId, { origin: given, ...end }) => {
    const origin = given ?? ownOrigin(deps)
    return async () => {
      const ended = await endInTerm(deps, liveId, { ...end, origin })
      if (E.isRight(ended) && ended.right !== null) await deps.whenProjected(SESSION_LISTS, ended.right)
      return ended
    }
  }
