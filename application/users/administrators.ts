import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { administratorsDecider } from '../../domain/administrators/decider.ts'
import type { Administrators as Counted, AdministratorsCommand } from '../../domain/administrators/decider.ts'
import { ADMINISTRATORS_STREAM } from '../../domain/administrators/events.ts'
import type { AdministratorsEvent } from '../../domain/administrators/events.ts'
import { adminStatusAfter, NOT_REGISTERED } from '../../domain/user/admin-status.ts'
import type { AdminStatus } from '../../domain/user/admin-status.ts'
import { isUser, userDecider } from '../../domain/user/decider.ts'
import type { UserState } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import type { Contended, Unavailable } from '../errors.ts'
import { handleCommand, loadState } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { createTurns } from '../turns.ts'
import { hasPassword } from './known-user.ts'

/**
 * The stream `administrators`: who leaves is taken off before the user's own event, who comes is added after it, so that
 * it never names more than administer, whatever was broken off in between and by however many processes.
 */
export interface Administrators {
  /**
   * Runs `take`, a deletion, demotion or deactivation of the user, and tells it whether nobody else administers: two
   * administrators who take each other away at the same moment must not both succeed.
   */
  readonly takeAway: <L, A>(
    userId: number,
    origin: Origin,
    take: (nobodyElseAdministers: boolean) => Promise<Either<L, A>>,
  ) => Promise<Either<L | Unavailable, A>>
  /** Brings the stream in line with the user's own. Repeatable. */
  readonly count: (userId: number, origin: Origin) => TaskEither<Unavailable, void>
}

/** How often somebody who was to stay may have left, before Contended. */
const ATTEMPTS = 5

interface OwnStream extends AdminStatus {
  /** Of the newest event; -1 of a stream that reads as empty. */
  readonly revision: number
  readonly hasPassword: boolean
}

/** By the log: what is remembered may not have heard yet that somebody was taken away. */
const ownStream =
  (deps: WriteDeps) =>
  (userId: number): TaskEither<Unavailable, OwnStream> =>
  async () => {
    const loaded = await loadState(deps)<UserState, UserEvent>(userStream(userId), userDecider)()
    if (E.isLeft(loaded)) return loaded
    const { state, events, stored } = loaded.right
    const revisions = stored.map(({ revision }) => revision)
    const is = events.reduce((before, event, n) => adminStatusAfter(before, event, revisions[n] ?? n), NOT_REGISTERED)
    return E.right({ ...is, revision: revisions.at(-1) ?? -1, hasPassword: isUser(state) && hasPassword(state) })
  }

export const createAdministrators = (deps: WriteDeps): Administrators => {
  const own = ownStream(deps)
  const inTurn = createTurns()

  const send = (command: AdministratorsCommand, origin: Origin) =>
    handleCommand(deps)<Counted, AdministratorsCommand, AdministratorsEvent, { readonly _tag: 'NoAdministratorRemains' }>({
      ...origin,
      // Each is a command of its own, also where one request sends several.
      commandId: deps.environment.newId(),
      stream: ADMINISTRATORS_STREAM,
      decider: administratorsDecider,
      command,
    })()

  /**
   * Another one who can log in, null where there is none. Where nobody is known to, but somebody's stream cannot be
   * read, that is the answer: nobody knows. Whose password cannot be read, because the key is missing, is none.
   */
  const anyOther = async (userId: number): Promise<Either<Unavailable, number | null>> => {
    const loaded = await loadState(deps)<Counted, AdministratorsEvent>(ADMINISTRATORS_STREAM, administratorsDecider)()
    if (E.isLeft(loaded)) return loaded
    let answer: Either<Unavailable, null> = E.right(null)
    for (const [other, { administers }] of loaded.right.state) {
      if (!administers || other === userId) continue
      const is = await own(other)()
      if (E.isLeft(is)) answer = is
      else if (is.right.since !== null && is.right.hasPassword) return E.right(other)
    }
    return answer
  }

  /** Answers whether somebody stays; then the user is no longer counted. */
  const leave = async (userId: number, origin: Origin): Promise<Either<Unavailable, boolean>> => {
    const is = await own(userId)()
    if (E.isLeft(is)) return is
    const { since, revision } = is.right
    if (since === null) return E.right(true)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stays = await anyOther(userId)
      if (E.isLeft(stays)) return stays
      if (stays.right === null) return E.right(false)
      const at = deps.environment.now()
      const left = await send({ type: 'Leave', userId, revision, remaining: stays.right, at }, origin)
      if (E.isRight(left)) return E.right(true)
      if (left.left._tag !== 'NoAdministratorRemains') return E.left(left.left)
    }
    const contended: Contended = { _tag: 'Contended', stream: ADMINISTRATORS_STREAM }
    return E.left(contended)
  }

  return {
    takeAway: (userId, origin, take) =>
      inTurn('administrators', async () => {
        const stays = await leave(userId, origin)
        return E.isLeft(stays) ? stays : await take(!stays.right)
      }),
    count: (userId, origin) => () =>
      inTurn('administrators', async () => {
        const is = await own(userId)()
        if (E.isLeft(is)) return is
        const { since, revision } = is.right
        const at = deps.environment.now()
        const command = { type: 'Count', userId, administers: since !== null, revision: since ?? revision, at } as const
        const counted = await send(command, origin)
        if (E.isRight(counted)) return E.right(undefined)
        if (counted.left._tag === 'NoAdministratorRemains') throw new Error('to count somebody asks for nobody to stay')
        return E.left(counted.left)
      }),
  }
}
