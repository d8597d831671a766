import type { Checkpoint } from '../ports/documents.ts'
import type { StoredEvent } from '../ports/event-store.ts'

/** An event whose work is not done. */
export interface Waiting {
  readonly event: StoredEvent
  /** When the work is due, in milliseconds of the monotonic clock. */
  readonly due: number
}

/** The events of a duty after its checkpoint, as far as the log is read. Their work may end in any order. */
export interface DutyQueue {
  readonly read: () => Checkpoint
  /** How far all work is done. */
  readonly done: () => Checkpoint
  /** Moves on to `read`. With an event, work is left to do before it is done, too. */
  readonly add: (read: Checkpoint, waiting?: Waiting) => void
  /** The event whose work is due first. Null: no work is left. */
  readonly next: () => Waiting | null
  readonly complete: (waiting: Waiting) => void
  /** Leaves out an event: the given one, or the one that is read next. `done` stays before it for good. */
  readonly skip: (waiting?: Waiting) => void
  /** Gives an event a later time. */
  readonly postpone: (waiting: Waiting, due: number) => void
  /** Number of events between `done` and `read` that have or had work. */
  readonly size: () => number
}

interface Entry {
  /** Null: the work is done. */
  waiting: Waiting | null
  /** The checkpoint once the work of this entry and of all entries before it is done. */
  upTo: Checkpoint
}

export const createDutyQueue = (checkpoint: Checkpoint): DutyQueue => {
  /** In the order of the log. The work of the first one is not done. */
  const entries: Array<Entry> = []
  let read = checkpoint
  let done = checkpoint
  /** The checkpoint before the first event that was left out. */
  let end: Checkpoint | null = null
  let first: Waiting | null = null

  const earlier = (one: Waiting | null, other: Waiting | null): Waiting | null =>
    one === null || (other !== null && other.due < one.due) ? other : one

  const replace = (former: Waiting, latter: Waiting | null): void => {
    const entry = entries.find(({ waiting }) => waiting === former)
    if (entry !== undefined) entry.waiting = latter
    while (entries[0]?.waiting === null) done = entries.shift()?.upTo ?? done
    first = entries.reduce<Waiting | null>((found, { waiting }) => earlier(found, waiting), null)
  }

  return {
    read: () => read,
    done: () => done,
    add: (next, waiting) => {
      const last = entries.at(-1)
      const upTo = end ?? next
      if (waiting !== undefined) entries.push({ waiting, upTo })
      else if (last === undefined) done = upTo
      else last.upTo = upTo
      read = next
      first = earlier(first, waiting ?? null)
    },
    next: () => first,
    complete: (waiting) => replace(waiting, null),
    skip: (waiting) => {
      const index = waiting === undefined ? entries.length : entries.findIndex((entry) => entry.waiting === waiting)
      const before = entries[index - 1]?.upTo ?? done
      for (const entry of entries.slice(index)) entry.upTo = before
      end = before
      if (waiting !== undefined) replace(waiting, null)
    },
    postpone: (waiting, due) => replace(waiting, { ...waiting, due }),
    size: () => entries.length,
  }
}
