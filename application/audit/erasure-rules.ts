import { LiveCreated, LiveDeleted } from '../../domain/live/events.ts'
import { UserDeleted } from '../../domain/user/events.ts'

interface ObservedEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A session or key that should have been deleted. */
export interface LeftOver {
  readonly where: string
  readonly problem: string
}

export interface ErasureRules {
  readonly observe: (event: ObservedEvent) => void
  /**
   * Returns what remains of users and sessions that were deleted before `until` (milliseconds since 1970). `keyNames`:
   * the names of all existing keys.
   */
  readonly leftOver: (
    keyNames: AsyncIterable<string> | Iterable<string>,
    until: number,
  ) => Promise<ReadonlyArray<LeftOver>>
}

/**
 * Checks that deletions are complete. The keys of a deleted user or session must be erased. While a key exists, any
 * copy of a member that it encrypts can be read. All sessions of a deleted user must be deleted too.
 */
export const createErasureRules = (): ErasureRules => {
  /** User ids by session id, of sessions that were not deleted. */
  const owners = new Map<number, number>()
  /** Times of deletion, by session id or user id, in milliseconds since 1970. */
  const deletedLives = new Map<number, number>()
  const deletedUsers = new Map<number, number>()

  const observe = ({ type, data }: ObservedEvent): void => {
    const [liveId, userId, at] = [Number(data['liveId']), Number(data['userId']), Date.parse(String(data['at']))]
    if (type === LiveCreated.type) owners.set(liveId, userId)
    if (type === UserDeleted.type) deletedUsers.set(userId, at)
    if (type === LiveDeleted.type) {
      owners.delete(liveId)
      deletedLives.set(liveId, at)
    }
  }

  /** Returns the owner of the key with this name, and when the owner was deleted (undefined: it was not deleted). */
  const ownerOf = (name: string): { readonly who: string; readonly at: number | undefined } | null => {
    const [, kind, id] = /^(user|live|text)-(\d+)$/.exec(name) ?? []
    if (kind === undefined) return null
    return kind === 'user'
      ? { who: `user ${id}`, at: deletedUsers.get(Number(id)) }
      : { who: `session ${id}`, at: deletedLives.get(Number(id)) }
  }

  return {
    observe,
    leftOver: async (keyNames, until) => {
      const found: Array<LeftOver> = []
      for (const [liveId, userId] of owners) {
        const at = deletedUsers.get(userId)
        if (at !== undefined && at <= until)
          found.push({ where: `session ${liveId}`, problem: `still exists although user ${userId} was deleted` })
      }
      for await (const name of keyNames) {
        const owner = ownerOf(name)
        if (owner?.at !== undefined && owner.at <= until)
          found.push({ where: `key ${name}`, problem: `still exists although ${owner.who} was deleted` })
      }
      return found
    },
  }
}
