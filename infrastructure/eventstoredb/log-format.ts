import type { EventStoreDBClient } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { StoreUnavailable } from '../../application/ports/event-store.ts'
import { FORMAT, RELEASE, whyNotFormat } from '../stores/format.ts'
import type { Connection } from './connection.ts'
import { reasonOf, unavailable } from './failures.ts'
import { within, type Patience } from './patience.ts'
import { metadataOf } from './stream-limits.ts'

/** Its metadata carries the mark, and it has no events: nothing that follows or folds the log meets it. */
const MARKED_STREAM = 'stenolog'

interface Parts {
  readonly client: EventStoreDBClient
  readonly credentials: Connection['credentials']
  readonly patience: Patience
  /** Puts the mark of this version where there is none, or an older one. */
  readonly marks: boolean
}

/** Right: why this version must not use the log, in words for people, null where it may. */
export const agreeOnFormat = async ({ client, credentials, patience, marks }: Parts): Promise<E.Either<StoreUnavailable, string | null>> => {
  const found = await metadataOf(client, patience, MARKED_STREAM)
  if (E.isLeft(found)) return found
  const { revision, members } = found.right
  const mark = members['format']
  const release = Number(members['release'] ?? 0)
  const refusal = whyNotFormat('the log of the event store', mark, release)
  if (refusal !== null || !marks || (mark === FORMAT && release >= RELEASE)) return E.right(refusal)
  try {
    // At the revision that was read: the mark of a newer version that starts at this moment stays, and is seen with the next try.
    const options = { credentials, deadline: patience.limit(), expectedRevision: revision }
    const raised = { ...members, format: FORMAT, release: Math.max(release, RELEASE) }
    await within(patience.limit(), client.setStreamMetadata(MARKED_STREAM, raised, options))
    return E.right(null)
  } catch (error) {
    return E.left(unavailable(reasonOf(error)))
  }
}
