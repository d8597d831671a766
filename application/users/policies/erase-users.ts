import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { apiTokenStream } from '../../../domain/api-token/events.ts'
import { profilesStream } from '../../../domain/profiles/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { UserDeleted, userKey, userStream } from '../../../domain/user/events.ts'
import { traverseConcurrently } from '../../concurrency.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import { eraseLive, type LiveWriteDeps, removeLive } from '../../lives/ending.ts'
import { type Origin, ownOrigin } from '../../log/origin.ts'
import { sendToToken, sendToUsername } from '../../log/send-to.ts'
import { type LogDutyDeps, type RunningDuty, startLogDuty } from '../../log/log-duty.ts'
import { deleteSnapshots } from '../../log/states/stream-snapshots.ts'
import type { Position } from '../../ports/event-store.ts'
import type { IdsOfUser } from '../../ports/read-models.ts'

export interface EraseUserDeps extends LiveWriteDeps {
  readonly liveIdsOf: IdsOfUser
  readonly tokenIdsOf: IdsOfUser
}

interface DeletedUser {
  readonly userId: number
  readonly usernameHash: string
}

/** Maximum number of tokens and sessions that are revoked and removed at the same time. */
const STEPS_AT_ONCE = 16

/** After this time a create that began before the deletion has ended and its session is listed. */
const DELAY_MS = 60_000

const revoke = async (
  deps: EraseUserDeps,
  tokenId: number,
  userId: number,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const revoked = await sendToToken(deps)(tokenId, { type: 'Revoke', userId }, origin)
  if (E.isRight(revoked)) return E.right(revoked.right.position)
  return revoked.left._tag === 'TokenUnknown' ? E.right(null) : E.left(revoked.left)
}

/**
 * Returns the sessions of a user: the listed sessions, and open sessions that the read model does not list yet. With
 * damaged admissions it returns only the listed sessions.
 */
const livesOfUser = async (
  deps: EraseUserDeps,
  userId: number,
): Promise<Either<Unavailable, ReadonlyArray<number>>> => {
  const listed = await deps.liveIdsOf(userId)
  if (E.isLeft(listed)) return listed
  const admission = await deps.admission.refresh()
  if (E.isLeft(admission)) return isUnreadable(admission.left) ? listed : admission
  const open = admission.right.open.filter((reservation) => reservation.userId === userId).map(({ liveId }) => liveId)
  return E.right([...new Set([...listed.right, ...open])])
}

/** Removes a session. Erases the keys of a session whose data is damaged, so its text becomes unreadable anyway. */
const removeOrErase = async (
  deps: EraseUserDeps,
  liveId: number,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const removed = await removeLive(deps, liveId, origin)
  if (E.isRight(removed) || !isUnreadable(removed.left)) return removed
  return E.map(() => null)(await eraseLive(deps, liveId))
}

/**
 * Erases the user's key, revokes the tokens, removes the sessions, and frees the name last. May be repeated. Left: the
 * first failure. Right: the position of the last event that read models show, or null when there is no such event.
 */
export const eraseUser =
  (deps: EraseUserDeps) =>
  async ({ userId, usernameHash }: DeletedUser, origin: Origin): Promise<Either<Unavailable, Position | null>> => {
    const erased = await deps.keyring.erase([userKey(userId)])
    if (E.isLeft(erased)) return erased
    const [tokens, lives] = [await deps.tokenIdsOf(userId), await livesOfUser(deps, userId)]
    if (E.isLeft(tokens)) return tokens
    if (E.isLeft(lives)) return lives
    const steps = [
      ...tokens.right.map((tokenId) => () => revoke(deps, tokenId, userId, origin)),
      ...lives.right.map((liveId) => () => removeOrErase(deps, liveId, origin)),
    ]
    // Damaged data does not stop the other steps. If a token stays, it does not authenticate anybody without its user.
    const snapshots = [
      userStream(userId), profilesStream(userId), ...tokens.right.map(apiTokenStream),
    ].map((stream) => async () => {
      deps.states?.known.forget(stream)
      return E.map(() => null)(await deleteSnapshots(deps.store, stream))
    })
    const done = await traverseConcurrently(STEPS_AT_ONCE, [...steps, ...snapshots], async (step) => {
      const outcome = await step()
      return E.isLeft(outcome) && isUnreadable(outcome.left) ? E.right(null) : outcome
    })
    if (E.isLeft(done)) return done
    const last = done.right.filter((position) => position !== null).toSorted().at(-1) ?? null
    const freed = await sendToUsername(deps)(usernameHash, { type: 'Free', userId }, origin)
    return E.isLeft(freed) ? freed : E.right(last)
  }

export interface EraseUsersDeps extends EraseUserDeps, Pick<LogDutyDeps, 'logger' | 'documents' | 'leases'> {
  /** Returns whether the read models are at most half a minute behind the log. */
  readonly listsAreCurrent: () => boolean
}

const deletedOf = eventReader([UserDeleted])

/**
 * Completes deletions of users a minute after their event. A deletion may be incomplete after a crash, while a store is
 * unavailable, or when a session was created at the same time. Runs until stopped.
 */
export const eraseUsers = (deps: EraseUsersDeps): RunningDuty =>
  startLogDuty(deps, {
    name: 'erase-users',
    prefixes: ['user-'],
    concerns: (event) => deletedOf(event) !== undefined,
    afterMs: DELAY_MS,
    perform: async (event) => {
      const deleted = deletedOf(event)
      if (deleted === undefined) return
      const { userId, usernameHash } = deleted.data
      if (!deps.listsAreCurrent()) throw new Error('the read models lag behind the log')
      orThrow(await eraseUser(deps)({ userId, usernameHash }, ownOrigin(deps)))
    },
    failure: 'deleted users could not be erased; trying again',
  })
