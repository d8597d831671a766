import * as A from 'fp-ts/lib/Array.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveIdOfCommand } from '../../../domain/admission/state.ts'
import type { AdmissionState } from '../../../domain/admission/state.ts'
import { KEY_LIFETIME_MS, idempotencyKeyDecider } from '../../../domain/idempotency/decider.ts'
import { idempotencyStream } from '../../../domain/idempotency/events.ts'
import { exists, newLive } from '../../../domain/live/state.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type {
  CreateLiveRefusal,
  IdempotencyKeyReused,
  LiveNotFound,
  RequestStillRunning,
  TooManyRequests,
  Unavailable,
} from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { viewOf } from '../queries/live-view.ts'
import { loadLive } from '../load-live.ts'
import { attemptCommandIds, createLive } from './create-live.ts'
import type { CreateLiveDeps, RecordLive } from './create-live.ts'
import type { CreateLiveRequest } from './requested-live.ts'

/**
 * Creates a session with an Idempotency-Key. For 24 hours a repeated request gets the answer of the first request.
 * Without a key each request creates a separate session.
 */
export type CreateLiveOnce = (
  caller: Caller,
  request: CreateLiveRequest,
  idempotencyKey: string | null,
) => TaskEither<CreateLiveRefusal | IdempotencyKeyReused | RequestStillRunning | TooManyRequests, LiveView>

/** The command that a key stands for: the command of the first request with this key, or a new command. */
interface ClaimedKey {
  readonly stream: string
  readonly commandId: string
  /** The session that the first request received. Null before a session is admitted. */
  readonly liveId: number | null
  /** True when an earlier request used the key. */
  readonly isRepeated: boolean
}

/**
 * First the log records the key and its command. A repeated request then finds the session of the first request, or
 * completes it, even after a crash at any step. When two processes use the same key at the same time, both run the same
 * command, which creates only one session.
 */
export const createLiveOnce = (deps: CreateLiveDeps): CreateLiveOnce => {
  const create = createLive(deps)
  const { keyedHash } = deps.credentials
  /** Running requests of this process. Key: hash of the Idempotency-Key. Value: hash of the request. */
  const running = new Map<string, string>()

  const claim = async (
    caller: Caller,
    keyHash: string,
    requestHash: string,
  ): Promise<Either<IdempotencyKeyReused | Unavailable, ClaimedKey>> => {
    const stream = idempotencyStream(keyHash)
    const origin = originOf(deps, actorOf(caller))
    const { commandId } = origin
    const use = { userId: caller.userId, commandId, requestHash, at: deps.environment.now() }
    const command = { type: 'Use', ...use } as const
    const used = await handleCommand(deps)({ ...origin, stream, decider: idempotencyKeyDecider, command })()
    if (E.isLeft(used)) {
      if (used.left._tag === 'RequestStillRunning') throw unexpected(stream, used.left)
      return E.left(used.left)
    }
    const { position, state } = used.right
    const isRepeated = position === null
    // This only frees space, because the decider ignores older uses of the key.
    if (!isRepeated) await deps.store.setMetadata(stream, { maxAgeSeconds: KEY_LIFETIME_MS / 1000 })()
    return E.right({ stream, commandId: state?.use.commandId ?? commandId, liveId: state?.liveId ?? null, isRepeated })
  }

  /**
   * Returns the sessions of a command from the admissions. Older versions stored no `IdempotencyKeyAdmitted`, so only
   * the admissions name the session of their commands.
   */
  const livesAdmittedEarlier = async (commandId: string): Promise<Either<Unavailable, ReadonlyArray<number>>> => {
    const livesOf = (state: AdmissionState) =>
      attemptCommandIds(commandId).flatMap((name) => A.fromOption(liveIdOfCommand(state, name)))
    return E.map(livesOf)(await deps.admission.refresh())
  }

  /** Returns the answer of the first request. Null when that request created no session. */
  const firstAnswer = async (claimed: ClaimedKey): Promise<Either<LiveNotFound | Unavailable, LiveView | null>> => {
    const liveIds = claimed.liveId === null ? await livesAdmittedEarlier(claimed.commandId) : E.right([claimed.liveId])
    if (E.isLeft(liveIds)) return liveIds
    for (const liveId of liveIds.right) {
      const loaded = await loadLive(deps, liveId)()
      if (E.isLeft(loaded)) return loaded
      const { state } = loaded.right
      if (state.status === 'deleted') return E.left({ _tag: 'LiveNotFound' })
      if (exists(state)) return E.right(viewOf(newLive(state.created)))
    }
    return E.right(null)
  }

  /** Records which session belongs to the key, before the session is created. */
  const recordLiveOfKey = (caller: Caller, { stream, commandId, liveId: recorded }: ClaimedKey): RecordLive => {
    let before = recorded
    return (liveId) => async () => {
      const origin = { commandId: `${commandId}/live-${liveId}`, correlationId: commandId, actor: actorOf(caller) }
      const command = { type: 'Admit', liveId, before, at: deps.environment.now() } as const
      const stored = await handleCommand(deps)({ ...origin, stream, decider: idempotencyKeyDecider, command })()
      if (E.isRight(stored)) {
        before = liveId
        return E.right(undefined)
      }
      if (stored.left._tag === 'IdempotencyKeyReused') throw unexpected(stream, stored.left)
      return E.left(stored.left)
    }
  }

  const createOnce = async (caller: Caller, request: CreateLiveRequest, keyHash: string, requestHash: string) => {
    const claimed = await claim(caller, keyHash, requestHash)
    if (E.isLeft(claimed)) return claimed
    const { commandId, isRepeated } = claimed.right
    const first = isRepeated ? await firstAnswer(claimed.right) : E.right(null)
    if (E.isLeft(first)) return first
    return first.right === null
      ? await create(caller, request, commandId, recordLiveOfKey(caller, claimed.right))()
      : E.right(first.right)
  }

  return (caller, request, key) => async () => {
    if (key === null) return await create(caller, request)()
    const keyHash = keyedHash('idempotency-key', `${caller.userId}\0${key}`)
    const requestHash = keyedHash('create-request', JSON.stringify(request))
    const runningRequest = running.get(keyHash)
    if (runningRequest === requestHash) return E.left({ _tag: 'RequestStillRunning' })
    if (runningRequest !== undefined) return E.left({ _tag: 'IdempotencyKeyReused' })
    running.set(keyHash, requestHash)
    try {
      return await createOnce(caller, request, keyHash, requestHash)
    } finally {
      running.delete(keyHash)
    }
  }
}
