import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../../application/ports/event-store.ts'
import { FORMAT, RELEASE, formatProblem } from '../../store-rules/format.ts'
import type { Calls } from '../calls.ts'
import { reasonOf, unavailable } from '../failures.ts'
import { isSibling, ownerIn, ownerProblem, type Ownership } from './log-owner.ts'
import { metadataOf } from '../stream-limits.ts'

interface Parts {
  readonly calls: Calls
  /** The stream whose metadata is the mark of the log: its format, its release and its owner. */
  readonly marked: string
  /** Null: this process only reads the log and does not change the mark. */
  readonly ownership: Ownership | null
}

interface CheckedMark {
  /** Why this process must not use the log, as a message for users; null: it may use the log. */
  readonly refusal: string | null
  /** Revision of the metadata that holds the mark. */
  readonly revision: bigint
}

const revisionOf = (revision: bigint | 'no_stream'): bigint => (revision === 'no_stream' ? -1n : revision)

/** Whether the mark already contains our format and release, or newer ones. `members`: the members of the mark. */
const isCurrent = (members: Readonly<Record<string, unknown>>, release: number): boolean =>
  Number(members['format'] ?? 0) >= FORMAT && release >= RELEASE

/**
 * Checks the format and the owner in the mark of the log. For a process that appends, it also writes our format,
 * release and owner into the mark.
 */
export const checkAndWriteMark = async (
  { calls, marked, ownership }: Parts,
): Promise<E.Either<StoreUnavailable, CheckedMark>> => {
  const found = await metadataOf(calls, marked)
  if (E.isLeft(found)) return found
  const { revision, members } = found.right
  const unchanged = (refusal: string | null) => E.right({ refusal, revision: revisionOf(revision) })
  const release = Number(members['release'] ?? 0)
  const tooNew = formatProblem('the log of the event store', members['format'], release)
  if (tooNew !== null || ownership === null) return unchanged(tooNew)
  const { owner, takesOver } = ownership
  const storedOwner = ownerIn(members)
  // An earlier attempt of this process wrote the mark, but its answer was lost.
  if (storedOwner?.incarnation === owner.incarnation) return unchanged(null)
  // Another process may replace this process at any time. If that happens before `ownershipProblem` is called, it
  // returns a refusal. If that happens later, the write below fails, because the mark then has a new revision. So the
  // mark must be read first.
  const refusal = (takesOver ? null : ownerProblem(storedOwner, owner)) ?? (await ownership.ownershipProblem())
  if (refusal !== null) return unchanged(refusal)
  // All processes that use the same MongoDB share the log, so a new process does not replace the owner in the mark.
  const isShared = isSibling(storedOwner, owner) && !takesOver
  if (isShared && isCurrent(members, release)) return unchanged(null)
  try {
    // Expects the revision that was read. If two processes start together, one write fails. The next attempt of that
    // process reads the owner that the other process wrote.
    const newRelease = Math.max(release, RELEASE)
    const mark = { ...members, format: FORMAT, release: newRelease, owner: isShared ? storedOwner : owner }
    const written = await calls.write((client, options) =>
      client.setStreamMetadata(marked, mark, { ...options, expectedRevision: revision }),
    )
    return E.right({ refusal: null, revision: written.nextExpectedRevision })
  } catch (error) {
    return E.left(unavailable(reasonOf(error)))
  }
}
