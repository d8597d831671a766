import type { Checkpoint } from '../../application/ports/documents.ts'
import { atMost } from '../../application/waiting.ts'
import { type LogRead, type LogReadDeps, startLogRead } from './log-read.ts'
import type { List } from './list.ts'

/** A list in a read, from its claim until it leaves. */
export interface Membership {
  /** Resolves when the list has left. Rejects with a defect. */
  readonly left: Promise<void>
  /** Takes the list out. Resolves when it is not read or written any more. */
  readonly leave: () => Promise<void>
}

/** The reads of the log in this process. */
export interface Reads {
  /** Reads the log for a list, after `claim` has made its checkpoint known. The signal ends a claim that takes long. */
  readonly join: (list: List, claim: (signal: AbortSignal) => Promise<void>) => Membership
}

/** How long a read waits for further lists, so that lists that start together share it. */
const GATHER_MS = 1000

/**
 * Lists share one read of the log, the common read. A list has a read of its own while it is behind the common read:
 * after a start from another checkpoint, while it is stuck, and after a rebuild. Lists with the same checkpoint share
 * such a read. When it has caught up with the log, and the common read is not ahead, its lists join the common read.
 */
export const createSharedReads = (deps: LogReadDeps): Reads => {
  const reads = new Set<LogRead>()
  let common: LogRead | null = null
  /** Lists whose checkpoint is not known yet, and lists that wait for their read to begin. */
  const claims = new Set<Promise<void>>()
  const claimed = new Set<List>()
  let isGathering = false

  const joinCommon = (read: LogRead): void => {
    common ??= read
    if (read === common || common.begun() > read.begun()) return
    for (const list of read.lists()) {
      common.add(list)
      void read.remove(list)
    }
  }
  const start = (lists: ReadonlyArray<List>, from: Checkpoint): LogRead => {
    const read = startLogRead(deps, lists, from, {
      onRest: () => joinCommon(read),
      onDismissed: (list) => void start([list], list.applied),
      onEnd: () => {
        reads.delete(read)
        if (common === read) common = null
      },
    })
    reads.add(read)
    return read
  }

  /** Starts a read for the lists at each checkpoint. The furthest of them is the common read, if there is none. */
  const gather = async (): Promise<void> => {
    if (isGathering) return
    isGathering = true
    await atMost(deps.timers, GATHER_MS, Promise.allSettled(claims))
    isGathering = false
    const groups = Map.groupBy(claimed, ({ applied }) => applied.position)
    claimed.clear()
    for (const [, [first, ...others]] of [...groups].toSorted(([a], [b]) => (a < b ? 1 : -1))) {
      if (first === undefined) continue
      const read = start([first, ...others], first.applied)
      common ??= read
    }
  }

  return {
    join: (list, claim) => {
      const leaving = new AbortController()
      const left = Promise.withResolvers<void>()
      const arrive = async (): Promise<void> => {
        try {
          await claim(leaving.signal)
          if (leaving.signal.aborted) return
          claimed.add(list)
        } catch (error) {
          if (!leaving.signal.aborted) left.reject(error)
        }
      }
      const arriving = arrive()
      claims.add(arriving)
      void arriving.then(() => {
        claims.delete(arriving)
        if (claimed.size > 0) void gather()
      })
      return {
        left: left.promise,
        leave: async () => {
          leaving.abort()
          await arriving
          claimed.delete(list)
          await [...reads].find((read) => read.lists().includes(list))?.remove(list)
          left.resolve()
        },
      }
    },
  }
}
