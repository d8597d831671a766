import { LiveCreated, LiveDeleted } from '../../domain/live/events.ts'
import { UserDeleted } from '../../domain/user/events.ts'

interface ErasedEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface LeftOver {
  readonly where: string
  readonly problem: string
}

export interface ErasureRules {
  readonly observe: (event: ErasedEvent) => void
  /**
   * What is still there of users and lives that were deleted up to the instant `until` (milliseconds since 1970);
   * `keyNames`: those of all keys that exist.
   */
  readonly leftOver: (keyNames: AsyncIterable<string> | Iterable<string>, until: number) => Promise<ReadonlyArray<LeftOver>>
}

/**
 * Sealed members can be read as long as their key exists, wherever copies of them are. So nothing readable is left of who
 * or what was deleted when its keys are gone, and with a user all lives.
 */
export const createErasureRules = (): ErasureRules => {
  /** Of lives that were not deleted. */
  const owners = new Map<number, number>()
  const deletedLives = new Map<number, number>()
  const deletedUsers = new Map<number, number>()

  const observe = ({ type, data }: ErasedEvent): void => {
    const [liveId, userId, at] = [Number(data['liveId']), Number(data['userId']), Date.parse(String(data['at']))]
    if (type === LiveCreated.type) owners.set(liveId, userId)
    if (type === UserDeleted.type) deletedUsers.set(userId, at)
    if (type === LiveDeleted.type) {
      owners.delete(liveId)
      deletedLives.set(liveId, at)
    }
  }

  /** The deleted user or live whose key has this name. */
  const goneOf = (name: string): { readonly who: string; readonly at: number | undefined } | null => {
    const [, kind, id] = /^(user|live|text)-(\d+)$/.exec(name) ?? []
    if (kind === undefined) return null
    return kind === 'user'
      ? { who: `user ${id}`, at: deletedUsers.get(Number(id)) }
      : { who: `live ${id}`, at: deletedLives.get(Number(id)) }
  }

  return {
    observe,
    leftOver: async (keyNames, until) => {
      const found: Array<LeftOver> = []
      for (const [liveId, userId] of owners) {
        const at = deletedUsers.get(userId)
        if (at !== undefined && at <= until) found.push({ where: `live ${liveId}`, problem: `is there although user ${userId} was deleted` })
      }
      for await (const name of keyNames) {
        const gone = goneOf(name)
        if (gone?.at !== undefined && gone.at <= until) found.push({ where: `key ${name}`, problem: `is there although ${gone.who} was deleted` })
      }
      return found
    },
  }
}
