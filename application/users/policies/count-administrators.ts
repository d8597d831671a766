import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ADMINISTRATORS_STREAM, AdministratorAdded } from '../../../domain/administrators/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { adminStatusAfter, NOT_REGISTERED } from '../../../domain/user/admin-status.ts'
import type { AdminStatus } from '../../../domain/user/admin-status.ts'
import { userEvents } from '../../../domain/user/events.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { appendSurely } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin } from '../../log/origin.ts'
import { BEGINNING } from '../../ports/event-store.ts'
import type { NewEvent, Position } from '../../ports/event-store.ts'

const userEvent = eventReader(userEvents)

/** Everybody who administers at `head`, by id; whatever cannot be read is passed over. */
const administratorsUpTo = async (
  { store }: Pick<WriteDeps, 'store'>,
  head: Position,
): Promise<ReadonlyMap<number, AdminStatus>> => {
  // Of all users only those of whom there is something to know: a log may hold millions.
  const known = new Map<number, AdminStatus>()
  const stop = new AbortController()
  for await (const message of store.subscribe(BEGINNING, ['user-'], stop.signal)) {
    const position = message.kind === 'event' ? message.event.position : message.position
    const said = message.kind === 'event' ? userEvent(message.event) : undefined
    if (message.kind === 'event' && said !== undefined) {
      const { userId } = said.data
      const active = { ...NOT_REGISTERED, isActive: true }
      const after = adminStatusAfter(known.get(userId) ?? active, said, message.event.revision)
      if (said.type === 'UserDeleted') known.delete(userId)
      else if (after.isActive && !after.isAdmin) known.delete(userId)
      else known.set(userId, after)
    }
    if (message.kind === 'caught-up' || position >= head) stop.abort()
  }
  return known
}

/**
 * Makes the stream `administrators` where there is none, from the users of a log that an older version wrote. In one
 * append: a process that is killed before leaves nothing, and of two that start at once one makes it.
 */
export const countAdministrators =
  (deps: WriteDeps): TaskEither<Unavailable, void> =>
  async () => {
    const { store, environment } = deps
    const made = await store.read(ADMINISTRATORS_STREAM, { limit: 1 })()
    if (E.isLeft(made)) return isHurt(made.left) ? E.right(undefined) : made
    if (made.right.length > 0) return E.right(undefined)
    const head = await store.head()()
    if (E.isLeft(head)) return head
    if (head.right === BEGINNING) return E.right(undefined)
    let known: ReadonlyMap<number, AdminStatus>
    try {
      known = await administratorsUpTo(deps, head.right)
    } catch (error) {
      return E.left({ _tag: 'StoreUnavailable', reason: messageOf(error) })
    }
    const { commandId, actor, correlationId } = ownOrigin(deps)
    const at = environment.now()
    const metadata = { correlationId, causationId: commandId, actor, recordedAt: at }
    const events = [...known].flatMap(([userId, { since: revision }]): ReadonlyArray<NewEvent> =>
      revision === null
        ? []
        : [{ id: environment.newId(), type: AdministratorAdded.type, data: { userId, revision, at }, metadata }])
    if (events.length === 0) return E.right(undefined)
    const appended = await appendSurely(deps, ADMINISTRATORS_STREAM, 'no-stream', events)
    return E.isRight(appended) || appended.left._tag === 'WrongRevision' ? E.right(undefined) : E.left(appended.left)
  }
