import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveIdOfCommand, placementOf } from '../../../domain/admission/state.ts'
import { exists, liveDecider } from '../../../domain/live/decider.ts'
import { listenerTokenStream, liveStream } from '../../../domain/live/events.ts'
import { listenerTokenClaim } from '../../../domain/live/listener-token-claim.ts'
import type { CandidatesFor } from '../../admission/candidates.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type {
  AudioUrlForbidden, CreateLiveRefusal, RequestStillRunning, SourcesNotIsolated, Unavailable,
} from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { Origin } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import type { Catalogue } from '../../ports/catalogue.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Projector } from '../../ports/projector.ts'
import type { HolderOfToken, LiveView, ViewOf } from '../../ports/read-models.ts'
import { chooseModels } from '../choose-models.ts'
import { checkListenerToken } from '../listener-token.ts'
import { releaseLive } from '../release-live.ts'
import type { LiveWriteDeps } from '../release-live.ts'
import { requestedLive } from './requested-live.ts'
import type { CreateLiveRequest, RequestedLive } from './requested-live.ts'

/** Writes down where a repeated request will look which live it was given; a left ends the create. */
export type NoteLive = (liveId: number) => TaskEither<RequestStillRunning | Unavailable, void>

type Refusal = CreateLiveRefusal | RequestStillRunning

/**
 * The same `commandId` again answers the live that it made, or completes it; a new one unless told. `note` is called
 * with each live before that is created: the command itself is remembered for ten minutes.
 */
export type CreateLive = (
  caller: Caller,
  request: CreateLiveRequest,
  commandId?: string,
  note?: NoteLive,
) => TaskEither<Refusal, LiveView>

export interface CreateLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {
  readonly catalogue: Catalogue
  /** Workers that may run the live. */
  readonly candidates: CandidatesFor
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly holderOfToken: HolderOfToken
  /** Why a live's source may not be pulled from there, as far as the URL itself tells; null: it may. */
  readonly pullRefusal: (url: string) => AudioUrlForbidden | SourcesNotIsolated | null
  readonly viewOf: ViewOf
}

/** Admissions of one create: after each but the last, the reconciler may have undone what took too long. */
const MAX_ADMISSIONS = 3

/** A create that was undone runs again under the next name of its command. */
export const commandNames = (commandId: string): ReadonlyArray<string> =>
  Array.from({ length: MAX_ADMISSIONS }, (_, admission) => (admission === 0 ? commandId : `${commandId}/${admission}`))

interface Create extends RequestedLive {
  /** Keyed hash of the custom listener token, null without one. */
  readonly tokenHash: string | null
  readonly origin: Origin
  readonly note: NoteLive
}

interface Undone {
  readonly liveId: number
  readonly userId: number
  readonly reason: 'token_taken' | 'orphan'
}

/** Fences the live off, only then gives its reservation back. What fails here is left to the reconciler. */
const undo = async (deps: CreateLiveDeps, { liveId, userId, reason }: Undone, origin: Origin): Promise<void> => {
  const command = { type: 'AbortLive', liveId, userId, reason, at: deps.environment.now() } as const
  // A command of its own: the create, repeated, must not take the fence for its live.
  const undoing: Origin = { ...origin, commandId: `${origin.commandId}/undo` }
  const fenced = await handleCommand(deps)({ ...undoing, stream: liveStream(liveId), decider: liveDecider, command })()
  if (E.isRight(fenced)) await releaseLive(deps, liveId, undoing)()
}

/** The listener token that the user chose, for that user alone; the live is undone when it is another's. */
const claimToken = async (
  deps: CreateLiveDeps,
  tokenHash: string,
  liveId: number,
  { caller: { userId }, origin }: Create,
): Promise<Either<CreateLiveRefusal, unknown>> => {
  const command = { userId, at: deps.environment.now() }
  const claim = { stream: listenerTokenStream(tokenHash), decider: listenerTokenClaim, command }
  const claimed = await handleCommand(deps)({ ...origin, ...claim })()
  if (E.isLeft(claimed) && claimed.left._tag === 'ListenerTokenTaken')
    await undo(deps, { liveId, userId, reason: 'token_taken' }, origin)
  return claimed
}

/** The number of the live, and the worker that is to run it; the same for the same command. */
const admit = async (
  deps: CreateLiveDeps,
  { caller: { userId, maxSessions }, request, chosen, origin }: Create,
): Promise<Either<CreateLiveRefusal, { readonly liveId: number; readonly worker: string }>> => {
  const { commandId } = origin
  const needs = [...new Set([chosen.model.name, ...chosen.pairs.map(({ model }) => model)])]
  const candidates = deps.candidates({ model: chosen.model, needs, maxDelay: request.config.max_delay })
  const { instance, now } = deps.environment
  const asked = { commandId, userId, vram: chosen.vram, needs, candidates, maxSessions, instance, at: now() }
  const admitted = await deps.admission.send({ ...origin, command: { type: 'Admit', ...asked } })()
  if (E.isLeft(admitted)) {
    if (admitted.left._tag === 'MovedSince') throw unexpected(`the command ${commandId}`, admitted.left)
    return E.left(admitted.left)
  }
  const liveId = O.toNullable(liveIdOfCommand(admitted.right, commandId))
  if (liveId === null) throw new Error(`admission knows no live of the command ${commandId}`)
  // Without a reservation the live is over already: its stream refuses a second create whatever the data says.
  return E.right({ liveId, worker: placementOf(admitted.right, liveId)?.worker ?? '' })
}

/** Admit, note, claim the token, LiveCreated. Null when the reconciler was faster and fenced the live off. */
const createOnce = async (deps: CreateLiveDeps, create: Create): Promise<Either<Refusal, LiveView | null>> => {
  const { caller: { userId }, tokenHash, origin } = create
  const admitted = await admit(deps, create)
  if (E.isLeft(admitted)) return admitted
  const { liveId, worker } = admitted.right
  const noted = await create.note(liveId)()
  if (E.isLeft(noted)) return noted
  if (tokenHash !== null) {
    const claimed = await claimToken(deps, tokenHash, liveId, create)
    if (E.isLeft(claimed)) return claimed
  }

  const stream = liveStream(liveId)
  const data = requestedLive(deps, create, { liveId, commandId: origin.commandId, worker })
  const making = { ...origin, stream, decider: liveDecider, command: { type: 'CreateLive', data } } as const
  const created = await handleCommand(deps)(making)()
  if (E.isRight(created)) {
    // Its owner has deleted it since: what was answered then can no longer be read.
    if (!exists(created.right.state)) return E.left({ _tag: 'LiveNotFound' })
    if (created.right.position !== null) await deps.whenProjected(created.right.position)
    return await deps.viewOf(created.right.stored)()
  }
  switch (created.left._tag) {
    case 'LiveOver':
      return E.right(null)
    case 'AlreadyCreated':
    case 'LiveUnknown':
    case 'Superseded':
      throw unexpected(stream, created.left)
    case 'KeyringUnavailable':
      // Nothing was appended. Who tries again while the keys are away must not run out of sessions.
      await undo(deps, { liveId, userId, reason: 'orphan' }, origin)
      return E.left(created.left)
    default:
      return E.left(created.left)
  }
}

/**
 * Create in the order that survives a crash at any step: check the token's claim, admit, note, claim the token, LiveCreated.
 * A create that stops after its admission is fenced off and released by `reconcile-lives.ts`: whether its last append
 * was made may be unknown. Here only where it is known: the token was taken, or there was no key to seal with.
 */
export const createLive =
  (deps: CreateLiveDeps): CreateLive =>
  (caller, request, commandId = deps.environment.newId(), note = () => TE.right(undefined)) =>
  async () => {
    const refusal = request.audioUrl === null ? null : deps.pullRefusal(request.audioUrl)
    if (refusal !== null) return E.left(refusal)
    const { listenerToken } = request
    const tokenHash = listenerToken === null ? null : deps.credentials.keyedHash('live-token', listenerToken)
    const free = tokenHash === null ? E.right(undefined) : await checkListenerToken(deps, tokenHash, caller.userId)
    if (E.isLeft(free)) return free
    const chosen = chooseModels(deps.catalogue, request)
    if (E.isLeft(chosen)) return chosen
    const maximum = caller.maxTranslations
    if (new Set(request.translations).size > maximum) return E.left({ _tag: 'TooManyTranslations', maximum })

    for (const name of commandNames(commandId)) {
      const origin: Origin = { commandId: name, correlationId: commandId, actor: actorOf(caller) }
      const created = await createOnce(deps, { caller, request, chosen: chosen.right, tokenHash, origin, note })
      if (E.isLeft(created)) return created
      if (created.right !== null) return E.right(created.right)
    }
    return E.left({ _tag: 'Contended', stream: 'admission' })
  }
