import * as A from 'fp-ts/lib/Array.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type AdmissionState, liveIdOfCommand } from '../../../domain/admission/state.ts'
import { KEY_LIFETIME_MS, currentUse, idempotencyKeyDecider } from '../../../domain/idempotency/decider.ts'
import { idempotencyStream } from '../../../domain/idempotency/events.ts'
import { exists, newLive } from '../../../domain/live/state.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type { CreateLiveRefusal, IdempotencyKeyReused, LiveNotFound, Unavailable } from '../../refusals.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { loadState } from '../../log/states/load-state.ts'
import { storeInstant } from '../../store-time.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { viewOf } from '../queries/live-view.ts'
import { loadLive } from '../load-live.ts'
import { attemptCommandIds, createLive, type CreateLiveDeps, type RecordLive } from './create-live.ts'
import type { CreateLiveRequest } from './requested-live.ts'

/**
 * Creates a session with an Idempotency-Key. For 24 hours a repeated request gets the answer of the first request.
 * Without a key each request creates a separate session.
 */
export type CreateLiveOnce = (
  caller: Caller,
  request: CreateLiveRequest,
  idempotencyKey: string | null,
) => Promise<Either<CreateLiveRefusal, LiveView>>

export interface CreateLiveOnceDeps extends CreateLiveDeps {
  /** True while this process stops. */
  readonly isDraining: () => boolean
  /** True when some process has announced its models. */
  readonly isWorkerKnown: () => boolean
  /** Adds the limit of guessed listener tokens to a create. */
  readonly limitTokenGuesses: (create: CreateLiveOnce) => CreateLiveOnce
}

interface KeyedRequest {
  readonly keyHash: string
  readonly requestHash: string
}

interface KeyedCommand extends KeyedRequest {
  readonly commandId: string
  /** The session that the first request received. Null before a session is admitted. */
  readonly liveId: number | null
  /** True when an earlier request used the key. */
  readonly isRepeated: boolean
}

/**
 * Equal requests with a key are one command, in every process: its id derives from the key and the request. The log
 * records the key once the command has a session id, before the session is created. So a repeated request finds the
 * session, or completes it, even after a crash at any step, and a refused request leaves nothing.
 */
export const createLiveOnce = (deps: CreateLiveOnceDeps): CreateLiveOnce => {
  const create = createLive(deps)
  const { keyedHash } = deps.credentials
  /** Running requests of this process. Key: hash of the Idempotency-Key. Value: hash of the request. */
  const running = new Map<string, string>()

  const commandOf = async (
    request: KeyedRequest,
  ): Promise<Either<IdempotencyKeyReused | Unavailable, KeyedCommand>> => {
    const { keyHash, requestHash } = request
    const loaded = await loadState(deps)(idempotencyStream(keyHash), idempotencyKeyDecider)
    if (E.isLeft(loaded)) return loaded
    const current = currentUse(loaded.right.state, storeInstant(deps.store))
    if (current === null) {
      const commandId = keyedHash('create-command', `${keyHash} ${requestHash}`)
      return E.right({ ...request, commandId, liveId: null, isRepeated: false })
    }
    if (current.use.requestHash !== requestHash) return E.left({ _tag: 'IdempotencyKeyReused' })
    return E.right({ ...request, commandId: current.use.commandId, liveId: current.liveId, isRepeated: true })
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
  const firstAnswer = async (
    { commandId, liveId }: KeyedCommand,
  ): Promise<Either<LiveNotFound | Unavailable, LiveView | null>> => {
    const liveIds = liveId === null ? await livesAdmittedEarlier(commandId) : E.right([liveId])
    if (E.isLeft(liveIds)) return liveIds
    for (const id of liveIds.right) {
      const loaded = await loadLive(deps, id)
      if (E.isLeft(loaded)) return loaded
      const { state } = loaded.right
      if (state.status === 'deleted') return E.left({ _tag: 'LiveNotFound' })
      if (exists(state)) return E.right(viewOf(newLive(state.created)))
    }
    return E.right(null)
  }

  /** Records which session belongs to the key, before the session is created. */
  const recordLiveOfKey = (caller: Caller, { keyHash, requestHash, commandId, liveId: recorded }: KeyedCommand) => {
    const stream = idempotencyStream(keyHash)
    let before = recorded
    const record: RecordLive = async (liveId) => {
      const origin = { commandId: `${commandId}/live-${liveId}`, correlationId: commandId, actor: actorOf(caller) }
      const use = { userId: caller.userId, commandId, requestHash, at: storeInstant(deps.store) }
      const command = { use, liveId, before }
      const stored = await handleCommand(deps)({ ...origin, stream, decider: idempotencyKeyDecider, command })
      if (E.isLeft(stored)) return stored
      // This only frees space, because the decider ignores older uses of the key.
      if (before === null) await deps.store.setMetadata(stream, { maxAgeSeconds: KEY_LIFETIME_MS / 1000 })
      before = liveId
      return E.right(undefined)
    }
    return record
  }

  const createOnce = async (caller: Caller, request: CreateLiveRequest, keyed: KeyedRequest) => {
    const found = await commandOf(keyed)
    if (E.isLeft(found)) return found
    const first = found.right.isRepeated ? await firstAnswer(found.right) : E.right(null)
    if (E.isLeft(first)) return first
    return first.right === null
      ? await create(caller, request, found.right.commandId, recordLiveOfKey(caller, found.right))
      : E.right(first.right)
  }

  const createLimited = deps.limitTokenGuesses(async (caller, request, key) => {
    if (key === null) return await create(caller, request)
    const keyHash = keyedHash('idempotency-key', `${caller.userId}\0${key}`)
    const requestHash = keyedHash('create-request', JSON.stringify(request))
    const runningRequest = running.get(keyHash)
    if (runningRequest === requestHash) return E.left({ _tag: 'RequestStillRunning' })
    if (runningRequest !== undefined) return E.left({ _tag: 'IdempotencyKeyReused' })
    running.set(keyHash, requestHash)
    try {
      return await createOnce(caller, request, { keyHash, requestHash })
    } finally {
      running.delete(keyHash)
    }
  })

  return async (...asked) => {
    if (deps.isDraining()) return E.left({ _tag: 'ShuttingDown' })
    // Without a worker the available models are unknown, so an error such as "Model not found" would be misleading.
    if (!deps.isWorkerKnown()) return E.left({ _tag: 'NoWorker' })
    return await createLimited(...asked)
  }
}
