import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ADMINISTRATORS_STREAM, AdministratorAdded } from '../../../domain/administrators/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { type AdminStatus, adminStatusAfter, NOT_REGISTERED } from '../../../domain/user/admin-status.ts'
import { userEvents } from '../../../domain/user/events.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import { appendWithRetries, type WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin } from '../../log/origin.ts'
import { BEGINNING, type NewEvent, type Position } from '../../ports/event-store.ts'

const userEvent = eventReader(userEvents)

/** Returns all administrators at the position `head`, by user id. Unreadable events are skipped. */
const administratorsUpTo = async (
  { store }: Pick<WriteDeps, 'store'>,
  head: Position,
): Promise<ReadonlyMap<number, AdminStatus>> => {
  // Contains only administrators and disabled users, because a log may contain millions of users.
  const known = new Map<number, AdminStatus>()
  const stop = new AbortController()
  for await (const message of store.subscribe(BEGINNING, ['user-'], stop.signal)) {
    const position = message.kind === 'event' ? message.event.position : message.position
    const change = message.kind === 'event' ? userEvent(message.event) : undefined
    if (message.kind === 'event' && change !== undefined) {
      const { userId } = change.data
      const active = { ...NOT_REGISTERED, isActive: true }
      const after = adminStatusAfter(known.get(userId) ?? active, change, message.event.revision)
      if (change.type === 'UserDeleted') known.delete(userId)
      else if (after.isActive && !after.isAdmin) known.delete(userId)
      else known.set(userId, after)
    }
    if (message.kind === 'caught-up' || position >= head) stop.abort()
  }
  return known
}

/**
 * Creates the stream `administrators` for a log of an older version. One append writes all events, so a process that is
 * killed leaves no partial stream. If two processes do this at the same time, only one of them succeeds.
 */
export const countAdministrators =
  async (deps: WriteDeps): Promise<Either<Unavailable, void>> => {
    const { store, environment } = deps
    const existing = await store.read(ADMINISTRATORS_STREAM, { limit: 1 })
    if (E.isLeft(existing)) return isUnreadable(existing.left) ? E.right(undefined) : existing
    if (existing.right.length > 0) return E.right(undefined)
    const head = await store.head()
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
    const appended = await appendWithRetries(deps, ADMINISTRATORS_STREAM, 'no-stream', events)
    return E.isRight(appended) || appended.left._tag === 'WrongRevision' ? E.right(undefined) : E.left(appended.left)
  }
