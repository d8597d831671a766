import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../application/ports/event-store.ts'
import { FORMAT, RELEASE, whyNotFormat } from '../stores/format.ts'
import type { Calls } from './calls.ts'
import { reasonOf, unavailable } from './failures.ts'
import { metadataOf } from './stream-limits.ts'

/** Its metadata carries the mark, and it has no events: nothing that follows or folds the log meets it. */
const MARKED_STREAM = 'stenolog'

interface Parts {
  readonly calls: Calls
  /** Puts the mark of this version where there is none, or an older one. */
  readonly marks: boolean
}

/** Right: why this version must not use the log, in words for people, null where it may. */
export const agreeOnFormat = async ({ calls, marks }: Parts): Promise<E.Either<StoreUnavailable, string | null>> => {
  const found = await metadataOf(calls, MARKED_STREAM)
  if (E.isLeft(found)) return found
  const { revision, members } = found.right
  const mark = members['format']
  const release = Number(members['release'] ?? 0)
  const refusal = whyNotFormat('the log of the event store', mark, release)
  if (refusal !== null || !marks || (mark === FORMAT && release >= RELEASE)) return E.right(refusal)
  try {
    // At the revision that was read: the mark of a newer version that starts at this moment stays, and is seen with the next try.
    const raised = { ...members, format: FORMAT, release: Math.max(release, RELEASE) }
    await calls.write((client, options) => client.setStreamMetadata(MARKED_STREAM, raised, { ...options, expectedRevision: revision }))
    return E.right(null)
  } catch (error) {
    return E.left(unavailable(reasonOf(error)))
  }
}
