import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import {
  type Administrators as ListedAdministrators, administratorsDecider,
} from '../../domain/administrators/decider.ts'
import { ADMINISTRATORS_STREAM, type AdministratorsEvent } from '../../domain/administrators/events.ts'
import { isUser, userDecider, type UserState } from '../../domain/user/decider.ts'
import { type UserEvent, userStream } from '../../domain/user/events.ts'
import type { Contended, Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { loadState } from '../log/states/load-state.ts'
import type { Origin } from '../log/origin.ts'
import { sendToAdministrators } from '../log/send-to.ts'
import { createTurns } from '../turns.ts'
import { hasPassword } from './known-user.ts'

/**
 * Maintains the stream `administrators`. A user is removed from it before the user's own event, and added after the
 * user's own event. So the stream never names too many administrators, even after a crash or with several processes.
 */
export interface Administrators {
  /**
   * Removes the user from the stream, then runs `change`: a deletion, demotion or deactivation. `change` gets true when
   * the user is the last administrator. So two administrators cannot remove each other at the same time.
   */
  readonly removeThen: <L, A>(
    userId: number,
    origin: Origin,
    change: (nobodyElseAdministers: boolean) => Promise<Either<L, A>>,
  ) => Promise<Either<L | Unavailable, A>>
  /** Updates the stream from the user's own stream. May be repeated. */
  readonly synchronise: (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>
}

/** Attempts to find a remaining administrator. Another process may remove that administrator at the same time. */
const MAX_ATTEMPTS = 5

/** Facts from the user's own stream. */
interface OwnStream {
  /** Revision of the event that made the user an active administrator. Null while the user is not one. */
  readonly since: number | null
  /** Revision of the newest event. −1 for an empty stream. */
  readonly revision: number
  readonly hasPassword: boolean
}

/** Reads the user's stream from the log, because memory may lag behind a removal. */
const ownStream =
  (deps: WriteDeps) =>
  async (userId: number): Promise<Either<Unavailable, OwnStream>> =>
    pipe(
      await loadState(deps)<UserState, UserEvent>(userStream(userId), userDecider),
      E.map(({ state, revision }) => ({
        since: isUser(state) ? state.administersSince : null,
        revision: revision ?? -1,
        hasPassword: isUser(state) && hasPassword(state),
      })),
    )

export const createAdministrators = (deps: WriteDeps): Administrators => {
  const readUser = ownStream(deps)
  const inTurn = createTurns()

  const send = sendToAdministrators(deps)
  /** A separate command id, because one request may send several commands. */
  const partOf = (origin: Origin): Origin => ({ ...origin, commandId: deps.environment.newId() })

  /**
   * Finds another administrator who can log in. Returns null when there is no such administrator. A user without a
   * readable password cannot log in. Left: no other administrator was found, but one of the streams could not be read.
   */
  const findOtherAdministrator = async (userId: number): Promise<Either<Unavailable, number | null>> => {
    const load = loadState(deps)<ListedAdministrators, AdministratorsEvent>
    const loaded = await load(ADMINISTRATORS_STREAM, administratorsDecider)
    if (E.isLeft(loaded)) return loaded
    let answer: Either<Unavailable, null> = E.right(null)
    for (const [other, { administers }] of loaded.right.state) {
      if (!administers || other === userId) continue
      const user = await readUser(other)
      if (E.isLeft(user)) answer = user
      else if (user.right.since !== null && user.right.hasPassword) return E.right(other)
    }
    return answer
  }

  /** Removes the user from the stream if another administrator remains. Returns whether another one remains. */
  const removeAdministrator = async (userId: number, origin: Origin): Promise<Either<Unavailable, boolean>> => {
    const user = await readUser(userId)
    if (E.isLeft(user)) return user
    const { since, revision } = user.right
    if (since === null) return E.right(true)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const remaining = await findOtherAdministrator(userId)
      if (E.isLeft(remaining)) return remaining
      if (remaining.right === null) return E.right(false)
      const command = { type: 'Leave', userId, revision, remaining: remaining.right } as const
      const removed = await send(null, command, partOf(origin))
      if (E.isRight(removed)) return E.right(true)
      if (removed.left._tag !== 'NoAdministratorRemains') return E.left(removed.left)
    }
    const contended: Contended = { _tag: 'Contended', stream: ADMINISTRATORS_STREAM }
    return E.left(contended)
  }

  return {
    removeThen: (userId, origin, change) =>
      inTurn('administrators', async () => {
        const remains = await removeAdministrator(userId, origin)
        return E.isLeft(remains) ? remains : await change(!remains.right)
      }),
    synchronise: (userId, origin) =>
      inTurn('administrators', async () => {
        const user = await readUser(userId)
        if (E.isLeft(user)) return user
        const { since, revision } = user.right
        const known = { administers: since !== null, revision: since ?? revision }
        return E.map(() => undefined)(await send(null, { type: 'Report', userId, ...known }, partOf(origin)))
      }),
  }
}
