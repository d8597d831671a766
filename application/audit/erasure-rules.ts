import { WorkerJoined, WorkerRestarted } from '../../domain/admission/events.ts'
import { LogRestored } from '../../domain/restores/events.ts'
import { LiveCreated, LiveDeleted, LiveFailed, LiveFinished } from '../../domain/live/events.ts'
import { UserDeleted } from '../../domain/user/events.ts'
import { type KeySubject, subjectOf } from '../../domain/key-subject.ts'

/** The part of a stored event that the rules use. They use no encrypted member. */
export interface ObservedEvent {
  readonly stream: string
  readonly revision: number
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
   * Returns what remains of users, sessions and texts that had to be erased before `until` (milliseconds since 1970).
   * `keyNames`: the names of all existing keys.
   */
  readonly leftOver: (
    keyNames: AsyncIterable<string> | Iterable<string>,
    until: number,
  ) => Promise<ReadonlyArray<LeftOver>>
}

/** A process starts to run sessions, and to erase what waits for it, or a log is restored. */
const STARTS: ReadonlySet<string> = new Set([WorkerJoined.type, WorkerRestarted.type, LogRestored.type])

/** Text without retention is readable for this many milliseconds after the end of its session. */
const PROMISED_MS = 60_000

interface ExistingLive {
  readonly userId: number
  readonly hasRetention: boolean
}

/**
 * Checks that erasures are complete. The keys of a deleted user or session must be erased, and the key of a text that
 * had to be forgotten. While a key exists, any copy of a member that it encrypts can be read. All sessions of a deleted
 * user must be deleted too. `retentionMax`: milliseconds for which text with retention is kept; 0: without limit.
 */
export const createErasureRules = (retentionMax: number): ErasureRules => {
  /** Sessions that were not deleted. */
  const lives = new Map<number, ExistingLive>()
  /** Times, by session id or user id, in milliseconds since 1970. */
  const ends = new Map<number, number>()
  const deletedLives = new Map<number, number>()
  const deletedUsers = new Map<number, number>()
  /** Time of the last start of a worker, or of a later restore. Nothing was erased while no process ran. */
  let startedAt = 0

  const observe = ({ type, data }: ObservedEvent): void => {
    const [liveId, userId, at] = [Number(data['liveId']), Number(data['userId']), Date.parse(String(data['at']))]
    if (STARTS.has(type)) startedAt = at
    if (type === LiveCreated.type) lives.set(liveId, { userId, hasRetention: data['retention'] === true })
    if (type === LiveFinished.type || type === LiveFailed.type) ends.set(liveId, at)
    if (type === UserDeleted.type) deletedUsers.set(userId, at)
    if (type === LiveDeleted.type) {
      lives.delete(liveId)
      ends.delete(liveId)
      deletedLives.set(liveId, at)
    }
  }

  /** Returns when the text of an existing session had to be forgotten; undefined: it may be kept. */
  const forgottenAt = (liveId: number): number | undefined => {
    const [live, end] = [lives.get(liveId), ends.get(liveId)]
    // If the creation is damaged, the retention is unknown.
    if (live === undefined || end === undefined || (live.hasRetention && retentionMax === 0)) return undefined
    return Math.max(end + (live.hasRetention ? retentionMax : PROMISED_MS), startedAt)
  }

  /** Returns why the key had to be erased before `until`, or null. */
  const reasonToErase = ({ key, kind, id }: KeySubject, until: number): string | null => {
    const isOver = (at = Infinity): boolean => at <= until
    if (isOver((kind === 'user' ? deletedUsers : deletedLives).get(id))) return `${kind} ${id} was deleted`
    return key === 'text' && isOver(forgottenAt(id)) ? `the text of session ${id} had to be forgotten` : null
  }

  return {
    observe,
    leftOver: async (keyNames, until) => {
      const found: Array<LeftOver> = []
      for (const [liveId, { userId }] of lives) {
        const at = deletedUsers.get(userId)
        if (at !== undefined && at <= until)
          found.push({ where: `session ${liveId}`, problem: `still exists although user ${userId} was deleted` })
      }
      for await (const name of keyNames) {
        const subject = subjectOf(name)
        const reason = subject && reasonToErase(subject, until)
        if (reason !== null) found.push({ where: `key ${name}`, problem: `still exists although ${reason}` })
      }
      return found
    },
  }
}
