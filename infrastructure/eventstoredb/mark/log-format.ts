import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../../application/ports/event-store.ts'
import { FORMAT, RELEASE, formatProblem } from '../../stores/format.ts'
import type { Calls } from '../calls.ts'
import { reasonOf, unavailable } from '../failures.ts'
import { isSibling, ownerIn, whyNotOwner } from './log-owner.ts'
import type { Ownership } from './log-owner.ts'
import { metadataOf } from '../stream-limits.ts'

interface Parts {
  readonly calls: Calls
  /** Whose metadata are the mark. */
  readonly marked: string
  /** Null: the log is only read, and its mark stays as it is. */
  readonly ownership: Ownership | null
}

interface Agreement {
  /** Why this process must not use the log, in words for people; null where it may. */
  readonly refusal: string | null
  /** Of the mark that says so. */
  readonly revision: bigint
}

const revisionOf = (revision: bigint | 'no_stream'): bigint => (revision === 'no_stream' ? -1n : revision)

/** Whether this version has nothing to add to what the mark says of formats. */
const saysThis = (members: Readonly<Record<string, unknown>>, release: number): boolean =>
  Number(members['format'] ?? 0) >= FORMAT && release >= RELEASE

/** Agrees with the log's mark on format and owner, and puts both there where this process appends. */
export const agreeOnMark = async (
  { calls, marked, ownership }: Parts,
): Promise<E.Either<StoreUnavailable, Agreement>> => {
  const found = await metadataOf(calls, marked)
  if (E.isLeft(found)) return found
  const { revision, members } = found.right
  const at = revisionOf(revision)
  const agreed = (refusal: string | null) => E.right({ refusal, revision: at })
  const release = Number(members['release'] ?? 0)
  const newer = formatProblem('the log of the event store', members['format'], release)
  if (newer !== null || ownership === null) return agreed(newer)
  const { owner, takesOver } = ownership
  const before = ownerIn(members)
  // A request whose answer was lost has put it there.
  if (before?.incarnation === owner.incarnation) return agreed(null)
  // After the mark was read: who was replaced since then is told so here, or finds the mark at another revision.
  const others = (takesOver ? null : whyNotOwner(before, owner)) ?? (await ownership.whyNot())
  if (others !== null) return agreed(others)
  // It is ours already, as all members' of our MongoDB.
  const isShared = isSibling(before, owner) && !takesOver
  if (isShared && saysThis(members, release)) return agreed(null)
  try {
    // At the revision that was read: of two that start now one is refused, and sees the other with its next try.
    const raised = { ...members, format: FORMAT, release: Math.max(release, RELEASE), owner: isShared ? before : owner }
    const written = await calls.write((client, options) =>
      client.setStreamMetadata(marked, raised, { ...options, expectedRevision: revision }),
    )
    return E.right({ refusal: null, revision: written.nextExpectedRevision })
  } catch (error) {
    return E.left(unavailable(reasonOf(error)))
  }
}
