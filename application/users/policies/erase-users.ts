import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { apiTokenDecider } from '../../../domain/api-token/decider.ts'
import { apiTokenStream } from '../../../domain/api-token/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { UserDeleted, userKey, usernameStream } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import { traverseAtOnce } from '../../at-once.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { eraseLive } from '../../lives/erase-live.ts'
import type { LiveWriteDeps } from '../../lives/release-live.ts'
import { removeLive } from '../../lives/remove-live.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import { startLogDuty } from '../../log/log-duty.ts'
import type { LogDutyDeps, RunningDuty } from '../../log/log-duty.ts'
import type { Position } from '../../ports/event-store.ts'
import type { IdsOfUser } from '../../ports/read-models.ts'
import { pause } from '../../waiting.ts'

export interface EraseUserDeps extends LiveWriteDeps {
  readonly liveIdsOf: IdsOfUser
  readonly tokenIdsOf: IdsOfUser
}

interface DeletedUser {
  readonly userId: number
  readonly usernameHash: string
}

/** Tokens revoked and lives removed at a time. */
const STEPS_AT_ONCE = 16

/** A create that began before its user was deleted has ended by then, one way or the other, and is listed. */
const LATE_MS = 60_000

const revoke = async (
  deps: EraseUserDeps,
  tokenId: number,
  userId: number,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const command = { type: 'Revoke', userId, at: deps.environment.now() } as const
  const stream = apiTokenStream(tokenId)
  const revoked = await handleCommand(deps)({ ...origin, stream, decider: apiTokenDecider, command })()
  if (E.isRight(revoked)) return E.right(revoked.right.position)
  switch (revoked.left._tag) {
    case 'TokenUnknown':
      return E.right(null)
    case 'TokenExists':
    case 'ExpiryNotInFuture':
      throw unexpected(`token ${tokenId}`, revoked.left)
    default:
      return E.left(revoked.left)
  }
}

/** Listed ones, and open ones that are not listed yet; of the latter none where the admissions cannot be read. */
const livesOf = async (deps: EraseUserDeps, userId: number): Promise<Either<Unavailable, ReadonlyArray<number>>> => {
  const listed = await deps.liveIdsOf(userId)()
  if (E.isLeft(listed)) return listed
  const admission = await deps.admission.refresh()
  if (E.isLeft(admission)) return isHurt(admission.left) ? listed : admission
  const open = admission.right.open.filter((reservation) => reservation.userId === userId).map(({ liveId }) => liveId)
  return E.right([...new Set([...listed.right, ...open])])
}

/** A live that cannot be read cannot be ended: then its keys go at least, and with them all that it says of anybody. */
const removeOrErase = async (
  deps: EraseUserDeps,
  liveId: number,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const removed = await removeLive(deps, liveId, origin)()
  if (E.isRight(removed) || !isHurt(removed.left)) return removed
  const erased = await eraseLive(deps, liveId)()
  return E.isLeft(erased) ? erased : E.right(null)
}

const free = async (
  deps: EraseUserDeps,
  { userId, usernameHash }: DeletedUser,
  origin: Origin,
): Promise<Either<Unavailable, void>> => {
  const command = { type: 'Free', userId, at: deps.environment.now() } as const
  const stream = usernameStream(usernameHash)
  const freed = await handleCommand(deps)({ ...origin, stream, decider: usernameClaimDecider, command })()
  if (E.isRight(freed)) return E.right(undefined)
  if (freed.left._tag === 'UsernameClaimedAlready') throw unexpected(`the name of user ${userId}`, freed.left)
  return E.left(freed.left)
}

/**
 * What the deletion of a user asks for: the user's key, tokens, lives with their keys, and at last the name, which
 * somebody else may then take. Repeatable; the first failure is the answer. Answers the position of the last event that
 * read models show, null where there was none.
 */
export const eraseUser =
  (deps: EraseUserDeps) =>
  (user: DeletedUser, origin: Origin): TaskEither<Unavailable, Position | null> =>
  async () => {
    const { userId } = user
    const erased = await deps.keyring.erase([userKey(userId)])()
    if (E.isLeft(erased)) return erased
    const [tokens, lives] = [await deps.tokenIdsOf(userId)(), await livesOf(deps, userId)]
    if (E.isLeft(tokens)) return tokens
    if (E.isLeft(lives)) return lives
    const steps = [
      ...tokens.right.map((tokenId) => () => revoke(deps, tokenId, userId, origin)),
      ...lives.right.map((liveId) => () => removeOrErase(deps, liveId, origin)),
    ]
    // What cannot be read keeps nobody from the rest; a token of nobody lets nobody in.
    const done = await traverseAtOnce(STEPS_AT_ONCE, steps, async (step) => {
      const outcome = await step()
      return E.isLeft(outcome) && isHurt(outcome.left) ? E.right(null) : outcome
    })
    if (E.isLeft(done)) return done
    const last = done.right.filter((position) => position !== null).toSorted().at(-1) ?? null
    const freed = await free(deps, user, origin)
    return E.isLeft(freed) ? freed : E.right(last)
  }

export interface EraseUsersDeps extends EraseUserDeps, Pick<LogDutyDeps, 'logger' | 'documents' | 'leases'> {
  /** Whether the lists show all but what happened in the last half minute. */
  readonly listsAreCurrent: () => boolean
}

const deletedOf = eventReader([UserDeleted])

/**
 * A minute after each deletion of a user, does what it could not: because its process died, a store was away, or a live
 * was being created at that moment. Runs until stopped.
 */
export const eraseUsers = (deps: EraseUsersDeps): RunningDuty =>
  startLogDuty(deps, {
    name: 'erase-users',
    prefixes: ['user-'],
    concerns: (event) => deletedOf(event) !== undefined,
    perform: async (event, signal) => {
      const deleted = deletedOf(event)
      if (deleted === undefined) return
      const { userId, usernameHash, at } = deleted.data
      const due = Date.parse(at) + LATE_MS
      await pause(deps.timers, Math.min(LATE_MS, Math.max(0, due - Date.parse(deps.environment.now()))), signal)
      if (signal.aborted) return
      if (!deps.listsAreCurrent()) throw new Error('the lists are behind the log')
      orThrow(await eraseUser(deps)({ userId, usernameHash }, ownOrigin(deps))())
    },
    failure: 'deleted users could not be erased; trying again',
  })
