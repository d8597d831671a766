import type { Reservation } from '../../../domain/admission/state.ts'

/**
 * Tells which open sessions a round of the reconciler must check, so that a round costs what has changed and not what
 * is open. It must hear of all events of sessions and users.
 */
export interface CheckSchedule {
  /** Call it for each event of a stream. Sessions are checked in the next round if they or their owners changed. */
  readonly changed: (stream: string) => void
  /** Begins a round at `now`, in milliseconds since 1970. Returns the sessions to check, and forgets closed ones. */
  readonly due: (open: ReadonlyArray<Reservation>, now: number) => ReadonlyArray<Reservation>
  /** Call it after a check that found nothing to do before `at`. Without it the next round checks the session again. */
  readonly checked: (liveId: number, at: number) => void
}

const idIn = (stream: string, kind: 'live' | 'user'): number | null => {
  const [name, id] = stream.split('-')
  return name === kind ? Number(id) : null
}

export const createCheckSchedule = (): CheckSchedule => {
  /** By session: when it must be checked next. A session without an entry must be checked. */
  const nextCheck = new Map<number, number>()
  let changedUsers = new Set<number>()
  /** Users who changed before the last round. The list of users in memory may have heard of it too late for that. */
  let usersBefore = new Set<number>()
  /** Sessions with events since the round began. A check in this round may not have seen these events. */
  const changedLives = new Set<number>()

  return {
    changed: (stream) => {
      const [liveId, userId] = [idIn(stream, 'live'), idIn(stream, 'user')]
      if (userId !== null) changedUsers.add(userId)
      if (liveId === null) return
      nextCheck.delete(liveId)
      changedLives.add(liveId)
    },
    due: (open, now) => {
      const users = new Set([...changedUsers, ...usersBefore])
      for (const { liveId, userId } of open) if (users.has(userId)) nextCheck.delete(liveId)
      usersBefore = changedUsers
      changedUsers = new Set()
      changedLives.clear()
      const isOpen = new Set(open.map(({ liveId }) => liveId))
      for (const liveId of nextCheck.keys()) if (!isOpen.has(liveId)) nextCheck.delete(liveId)
      // The time for which a session waits for a worker is measured from check to check.
      return open.filter(({ liveId, worker }) => worker === null || (nextCheck.get(liveId) ?? -Infinity) <= now)
    },
    checked: (liveId, at) => {
      if (!changedLives.has(liveId)) nextCheck.set(liveId, at)
    },
  }
}

/** Returns the schedule of a single round that leaves out these sessions. */
export const scheduleWithout = (excluded: ReadonlySet<number>): CheckSchedule => ({
  changed: () => undefined,
  due: (open) => open.filter(({ liveId }) => !excluded.has(liveId)),
  checked: () => undefined,
})
