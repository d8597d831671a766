import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { pause } from '../../../application/waiting.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { claim, describeClaim } from '../../stores/claim.ts'
import type { Calls } from '../calls.ts'
import { metadataOf } from '../stream-limits.ts'

/**
 * The stream whose metadata is the log's mark: its format, and whose it is. It has no events, so nothing that follows or
 * folds the log meets it.
 */
export const MARKED_STREAM = 'stenolog'

const logOwner = t.intersection([
  claim,
  t.readonly(t.type({
    /** The MongoDB whose members share the log, by its id; null where the log is the data directory's alone. */
    cluster: t.union([t.string, t.null]),
  })),
])
export type LogOwner = t.TypeOf<typeof logOwner>

/** Whether both are members of one MongoDB, which share the log. */
export const isSibling = (owner: LogOwner | null, own: LogOwner): boolean => owner !== null && owner.cluster !== null && owner.cluster === own.cluster

/** What a process that appends to a log says of itself, and how it hears that the log is another's. */
export interface Ownership {
  readonly owner: LogOwner
  /** Takes the log from whomever it belongs to. */
  readonly takesOver: boolean
  /** Why the process is not the one that may have the log, for people; null where it is. */
  readonly whyNot: () => Promise<string | null>
  /** Is told at most once why this process must end, for people. */
  readonly onTaken: (why: string) => void
  readonly timers: Timers
  /** Milliseconds between looks at the mark. */
  readonly lookEvery: number
}

/** Whose the log is by the members of its mark; null: nobody's yet. */
export const ownerIn = (members: Readonly<Record<string, unknown>>): LogOwner | null => {
  const owner = members['owner']
  return logOwner.is(owner) ? owner : null
}

/**
 * Why the log is not for `own`, in words for people; null where it is. An earlier process of the same data directory is
 * gone, since the directory is taken for one; but where the log is a MongoDB's, others may be at it. Of anybody else
 * nothing is known.
 */
export const whyNotOwner = (owner: LogOwner | null, own: LogOwner): string | null => {
  if (owner === null || isSibling(owner, own)) return null
  if (owner.cluster === null && owner.directory === own.directory) return null
  const [whose, hint] = owner.cluster === null
    ? [`another data directory, that of ${describeClaim(owner)}`, 'Once that one is gone for good']
    : [`the processes of another MongoDB, ${describeClaim(owner)} among them`, 'Once those are gone for good']
  return `the log of the event store belongs to ${whose}: two processes share a log only where they share a MongoDB. ` +
    `${hint}, \`stenolog log take-over\` gives the log to this one`
}

interface Watched {
  readonly calls: Calls
  readonly marked: string
  readonly ownership: Ownership
  /** Of the mark by which the log is ours: what a node that lags behind still says is older. */
  readonly revision: bigint
}

/** Looks at the mark again and again, until somebody stands in it who does not share the log with us, or `signal`. */
export const watchOwner = async (
  { calls, marked, ownership: { owner, timers, lookEvery, onTaken }, revision }: Watched, signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    await pause(timers, lookEvery, signal)
    if (signal.aborted) return
    const found = await metadataOf(calls, marked)
    if (E.isLeft(found) || found.right.revision === 'no_stream' || found.right.revision <= revision) continue
    const now = ownerIn(found.right.members)
    if (now !== null && now.incarnation !== owner.incarnation && !isSibling(now, owner))
      return onTaken(`the process ${describeClaim(now)} has taken the log of the event store over`)
  }
}
