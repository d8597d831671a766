import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { pause } from '../../../application/waiting.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { claim, describeClaim } from '../../store-rules/claim.ts'
import type { Calls } from '../calls.ts'
import { metadataOf } from '../stream-limits.ts'

/**
 * The stream whose metadata is the mark of the log: its storage format and its owner. The stream has no events, so
 * readers of the log do not see it.
 */
export const MARKED_STREAM = 'stenolog'

const logOwner = t.intersection([
  claim,
  t.readonly(t.type({
    /** Id of a MongoDB: all processes that use it share the log. Null: the log belongs to one data directory. */
    cluster: t.union([t.string, t.null]),
  })),
])
export type LogOwner = t.TypeOf<typeof logOwner>

/** Whether both owners use the same MongoDB and so share the log. */
export const isSibling = (owner: LogOwner | null, own: LogOwner): boolean =>
  owner !== null && owner.cluster !== null && owner.cluster === own.cluster

/** The claim of a process that appends to a log. */
export interface Ownership {
  readonly owner: LogOwner
  /** Whether this process takes the log from its current owner. */
  readonly takesOver: boolean
  /** Returns why this process must not own the log, as a message for users; null: it may. */
  readonly ownershipProblem: () => Promise<string | null>
  /** Called at most once, with the reason for users, when this process must end because another one owns the log. */
  readonly onTaken: (why: string) => void
  readonly timers: Timers
  /** Milliseconds between two reads of the mark. */
  readonly checkIntervalMs: number
}

/** Returns the owner in the mark; null: the log has no owner yet. */
export const ownerIn = (members: Readonly<Record<string, unknown>>): LogOwner | null => {
  const owner = members['owner']
  return logOwner.is(owner) ? owner : null
}

/**
 * Returns why `own` must not use the log, as a message for users; null: it may. The lock of the data directory proves
 * that an earlier process of the same directory has ended. Processes that use the same MongoDB share the log. Every
 * other owner may still be running.
 */
export const ownerProblem = (owner: LogOwner | null, own: LogOwner): string | null => {
  if (owner === null || isSibling(owner, own)) return null
  if (owner.cluster === null && owner.directory === own.directory) return null
  const [ownerText, hint] = owner.cluster === null
    ? [`another data directory, used by ${describeClaim(owner)}`, 'If that directory is lost for good']
    : [`the processes of another MongoDB, such as ${describeClaim(owner)}`, 'If that MongoDB is lost for good']
  return `the log of the event store belongs to ${ownerText}. Processes can share a log only if they share a MongoDB. `
    + `${hint}, \`stenolog log take-over\` gives the log to this service`
}

interface Watched {
  readonly calls: Calls
  readonly marked: string
  readonly ownership: Ownership
  /** Revision of our mark. A lagging node may return older marks, which are ignored. */
  readonly revision: bigint
}

/** Reads the mark periodically until it names an owner that does not share the log with us, or `signal` aborts. */
export const watchOwner = async (
  { calls, marked, ownership: { owner, timers, checkIntervalMs, onTaken }, revision }: Watched, signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    await pause(timers, checkIntervalMs, signal)
    if (signal.aborted) return
    const found = await metadataOf(calls, marked)
    if (E.isLeft(found) || found.right.revision === 'no_stream' || found.right.revision <= revision) continue
    const present = ownerIn(found.right.members)
    if (present !== null && present.incarnation !== owner.incarnation && !isSibling(present, owner))
      return onTaken(`the process ${describeClaim(present)} has taken over the log of the event store`)
  }
}
