import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { liveIdOfCommand, placementOf } from '../../../domain/admission/state.ts'
import { exists, newLive } from '../../../domain/live/state.ts'
import { listenerTokenStream } from '../../../domain/live/events.ts'
import { listenerTokenClaim } from '../../../domain/live/listener-token-claim.ts'
import type { CandidatesFor } from '../../admission/candidates.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type {
  AudioUrlForbidden, CreateLiveRefusal, IdempotencyKeyReused, RequestStillRunning, SourcesNotIsolated, Unavailable,
} from '../../refusals.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { Origin } from '../../log/origin.ts'
import type { Catalogue } from '../../ports/catalogue.ts'
import type { Credentials } from '../../ports/credentials.ts'
import { type Projector, SESSION_LISTS } from '../../ports/projector.ts'
import type { HolderOfToken, LiveView } from '../../ports/read-models.ts'
import { chooseModels } from '../choose-models.ts'
import { abortLive, type LiveWriteDeps } from '../ending.ts'
import { checkListenerToken } from '../listener-token.ts'
import { loadLive } from '../load-live.ts'
import { viewOf } from '../queries/live-view.ts'
import { sendToSession } from '../../log/send-to.ts'
import { type CreateLiveRequest, liveCreatedData, type RequestedLive } from './requested-live.ts'

/** Records the id of the session for repeated requests. Left: the create stops with this refusal. */
export type RecordLive = (liveId: number) =>
  Promise<Either<IdempotencyKeyReused | RequestStillRunning | Unavailable, void>>

/**
 * Creates a session. If `commandId` was used before, this returns its session, or completes the create. The default is
 * a new id. Admissions remember a command only for ten minutes. `recordLive` is called before each session is created,
 * so a later repeat can find the session too.
 */
export type CreateLive = (
  caller: Caller,
  request: CreateLiveRequest,
  commandId?: string,
  recordLive?: RecordLive,
) => Promise<Either<CreateLiveRefusal, LiveView>>

export interface CreateLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {
  readonly catalogue: Catalogue
  readonly candidates: CandidatesFor
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly holderOfToken: HolderOfToken
  /** Returns why the service may not pull audio from this URL, judged only by the URL. Null: it may. */
  readonly pullRefusal: (url: string) => AudioUrlForbidden | SourcesNotIsolated | null
}

/**
 * Maximum number of admissions of one create. The reconciler, a background task, undoes an admission whose create takes
 * too long. The create then tries again.
 */
const MAX_ADMISSIONS = 3

const attemptCommandId = (commandId: string, attempt: number): string =>
  attempt === 0 ? commandId : `${commandId}/${attempt}`

/** Returns the command ids of one create: one for each attempt. After an undone attempt, the next id is used. */
export const attemptCommandIds = (commandId: string): ReadonlyArray<string> =>
  Array.from({ length: MAX_ADMISSIONS }, (_, attempt) => attemptCommandId(commandId, attempt))

/** True when an earlier request used the id for an attempt that was undone, so no session can have it any more. */
const isUndone = async (deps: CreateLiveDeps, commandId: string): Promise<boolean> => {
  const state = deps.admission.state()
  const liveId = O.toNullable(liveIdOfCommand(state, commandId))
  if (liveId === null || placementOf(state, liveId) !== null) return false
  const loaded = await loadLive(deps, liveId)
  return E.isRight(loaded) && loaded.right.state.status === 'aborted'
}

interface Create extends RequestedLive {
  /** Keyed hash of the custom listener token, null without one. */
  readonly tokenHash: string | null
  readonly origin: Origin
  readonly recordLive: RecordLive
}

/** Undoes a create of which nothing was stored. The reconciler retries failed steps. */
const undo = async (deps: CreateLiveDeps, create: Parameters<typeof abortLive>[1], origin: Origin): Promise<void> => {
  // A separate command id: a repeated create must not mistake the fence for its own session.
  await abortLive(deps, create, { ...origin, commandId: `${origin.commandId}/undo` })
}

/** Claims the custom listener token for the user. Undoes the session when another user holds the token. */
const claimToken = async (
  deps: CreateLiveDeps,
  tokenHash: string,
  liveId: number,
  { caller: { userId }, origin }: Create,
): Promise<Either<CreateLiveRefusal, unknown>> => {
  const command = { userId, at: deps.environment.now() }
  const claim = { stream: listenerTokenStream(tokenHash), decider: listenerTokenClaim, command }
  const claimed = await handleCommand(deps)({ ...origin, ...claim })
  if (E.isLeft(claimed) && claimed.left._tag === 'ListenerTokenTaken')
    await undo(deps, { liveId, userId, reason: 'token_taken' }, origin)
  return claimed
}

/** Reserves a worker and a session id. A repeated command gets the same worker and id. */
const admit = async (
  deps: CreateLiveDeps,
  { caller: { userId, maxSessions }, request, chosen, origin }: Create,
): Promise<Either<CreateLiveRefusal, { readonly liveId: number; readonly worker: string }>> => {
  const { commandId } = origin
  const needs = [...new Set([chosen.model.name, ...chosen.pairs.map(({ model }) => model)])]
  const candidates = deps.candidates({ model: chosen.model, needs, maxDelay: request.config.max_delay })
  const { instance } = deps.environment
  const wanted = { commandId, userId, vram: chosen.vram, needs, candidates, maxSessions, instance }
  const admitted = await deps.admission.send({ ...origin, command: { type: 'Admit', ...wanted } })
  if (E.isLeft(admitted)) return admitted
  const liveId = O.toNullable(liveIdOfCommand(admitted.right, commandId))
  if (liveId === null) throw new Error(`the admissions have no session for the command ${commandId}`)
  // Without a reservation the session has ended already. Its stream then refuses a second create.
  return E.right({ liveId, worker: placementOf(admitted.right, liveId)?.worker ?? '' })
}

/**
 * Makes one attempt: admits, records the id, claims the token, creates. Null when the reconciler fenced the session.
 */
const createOnce = async (
  deps: CreateLiveDeps, create: Create,
): Promise<Either<CreateLiveRefusal, LiveView | null>> => {
  const { caller: { userId }, tokenHash, origin } = create
  const admitted = await admit(deps, create)
  if (E.isLeft(admitted)) return admitted
  const { liveId, worker } = admitted.right
  const recorded = await create.recordLive(liveId)
  if (E.isLeft(recorded)) return recorded
  if (tokenHash !== null) {
    const claimed = await claimToken(deps, tokenHash, liveId, create)
    if (E.isLeft(claimed)) return claimed
  }

  const data = liveCreatedData(deps, create, { liveId, commandId: origin.commandId, worker })
  const created = await sendToSession(deps)(liveId, { type: 'CreateLive', data }, origin)
  if (E.isRight(created)) {
    // The owner has deleted this session, so the earlier answer cannot be repeated.
    if (!exists(created.right.state)) return E.left({ _tag: 'LiveNotFound' })
    if (created.right.position !== null) await deps.whenProjected(SESSION_LISTS, created.right.position)
    return E.right(viewOf(newLive(created.right.state.created)))
  }
  switch (created.left._tag) {
    case 'LiveOver':
      return E.right(null)
    case 'AlreadyCreated':
      return E.left({ _tag: 'LiveNotFound' })
    case 'KeyringUnavailable':
      // Nothing was appended. The reservation is released, so retries do not use up the user's quota.
      await undo(deps, { liveId, userId, reason: 'orphan' }, origin)
      return E.left(created.left)
    default:
      return E.left(created.left)
  }
}

/**
 * Creates a session in an order that survives a crash at any step: check the claim of the token, admit, record the id,
 * claim the token, append LiveCreated. If a create stops after its admission, the outcome of its last append may be
 * unknown. Then `reconcile-lives.ts` fences the session later. This function undoes a create only when it
 * is certain that nothing was created: the token was taken, or the keyring was unavailable.
 */
export const createLive =
  (deps: CreateLiveDeps): CreateLive =>
  async (caller, request, commandId = deps.environment.newId(), recordLive = async () => E.right(undefined)) => {
    const refusal = request.audioUrl === null ? null : deps.pullRefusal(request.audioUrl)
    if (refusal !== null) return E.left(refusal)
    const { listenerToken } = request
    const tokenHash = listenerToken === null ? null : deps.credentials.keyedHash('live-token', listenerToken)
    const checked = tokenHash === null ? E.right(undefined) : await checkListenerToken(deps, tokenHash, caller.userId)
    if (E.isLeft(checked)) return checked
    const chosen = chooseModels(deps.catalogue, request)
    if (E.isLeft(chosen)) return chosen
    const maximum = caller.maxTranslations
    if (request.translations.length > maximum) return E.left({ _tag: 'TooManyTranslations', maximum })

    let attempt = 0
    for (let admission = 0; admission < MAX_ADMISSIONS; admission += 1) {
      // Requests with the same Idempotency-Key share their ids. Undone attempts of earlier ones must not stop this one.
      while (await isUndone(deps, attemptCommandId(commandId, attempt))) attempt += 1
      const attemptId = attemptCommandId(commandId, attempt)
      const origin: Origin = { commandId: attemptId, correlationId: commandId, actor: actorOf(caller) }
      const create = { caller, request, chosen: chosen.right, tokenHash, origin, recordLive }
      const created = await createOnce(deps, create)
      if (E.isLeft(created)) return created
      if (created.right !== null) return E.right(created.right)
      attempt += 1
    }
    return E.left({ _tag: 'Contended', stream: 'admission' })
  }
