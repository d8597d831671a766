import * as E from 'fp-ts/lib/Either.js'
import {
  AdmissionSnapshotTaken, EARLIER_SNAPSHOT_STREAM, fromEarlierSnapshot,
} from '../../domain/admission/earlier-snapshots.ts'
import {
  ADMISSION_SNAPSHOT_STREAM, AdmissionSnapshotPacked, fromSnapshot, toSnapshot,
} from '../../domain/admission/snapshot.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import { eventReader } from '../../domain/read-event.ts'
import { isUnreadable } from '../refusals.ts'
import { sealEvents } from '../log/event-serialization.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Logger } from '../ports/environment.ts'
import type { Revision, StoredEvent } from '../ports/event-store.ts'

/** The state of `admission` up to and including a revision. */
interface Snapshot {
  readonly state: AdmissionState
  readonly revision: Revision
}

const snapshotEventOf = eventReader([AdmissionSnapshotPacked, AdmissionSnapshotTaken])

const snapshotOf = (stored: StoredEvent): Snapshot | undefined => {
  const event = snapshotEventOf(stored)
  if (event === undefined) return undefined
  const { revision } = event.data
  const isPacked = event.type === AdmissionSnapshotPacked.type
  return { state: isPacked ? fromSnapshot(event.data) : fromEarlierSnapshot(event.data), revision }
}

/**
 * Writes a snapshot of the admission state after every `every` events, so a start reads only about that many events. A
 * failed snapshot only makes the next start slower, so it is not retried.
 */
export const createSnapshots = (deps: WriteDeps & { readonly logger: Logger }, every: number) => {
  /** Revision of the newest known snapshot. −1: none is known. */
  let newestRevision = -1
  /** True once the stream has its maximum number of events. */
  let isLimited = false
  let writing: Promise<void> | null = null

  const write = async (state: AdmissionState, revision: Revision): Promise<void> => {
    if (!isLimited) {
      // Keeps two snapshots, so one complete snapshot exists while the next is being written.
      if (E.isLeft(await deps.store.setMetadata(ADMISSION_SNAPSHOT_STREAM, { maxCount: 2 }))) return
      isLimited = true
    }
    const event = { type: AdmissionSnapshotPacked.type, data: toSnapshot(state, revision) }
    const sealed = await sealEvents(deps.keyring, ADMISSION_SNAPSHOT_STREAM)([event])
    if (E.isLeft(sealed)) return
    const id = deps.environment.newId()
    const actor = `instance:${deps.environment.instance}`
    const metadata = { correlationId: id, causationId: id, actor, recordedAt: deps.environment.now() }
    // Several processes may append in any order, because each snapshot names its revision.
    const events = sealed.right.map((sealedEvent) => ({ ...sealedEvent, id, metadata }))
    const appended = await deps.store.append(ADMISSION_SNAPSHOT_STREAM, 'any', events)
    if (E.isRight(appended)) newestRevision = Math.max(newestRevision, revision)
  }

  const newestOf = async (stream: string): Promise<Snapshot | undefined> => {
    const stored = await deps.store.read(stream, { direction: 'backwards', limit: 1 })
    if (E.isLeft(stored) && !isUnreadable(stored.left)) throw new Error(`cannot read ${stream}`, { cause: stored.left })
    const [newest] = E.isRight(stored) ? stored.right : []
    return newest && snapshotOf(newest)
  }

  return {
    /**
     * Returns the newest snapshot, or null if none can be read: then the caller reads the whole stream. Rejects if the
     * store is unavailable.
     */
    last: async (): Promise<Snapshot | null> => {
      const present = await newestOf(ADMISSION_SNAPSHOT_STREAM)
      if (present === undefined) return (await newestOf(EARLIER_SNAPSHOT_STREAM)) ?? null
      isLimited = true
      newestRevision = present.revision
      return present
    },
    /** Begins to write a snapshot if enough events followed the last one. Appends do not wait for it. */
    offer: (state: AdmissionState, revision: Revision): void => {
      if (writing !== null || revision - newestRevision < every) return
      writing = write(state, revision)
        .catch((error: unknown) => { deps.logger.error({ err: error }, 'admission snapshot failed') })
        .finally(() => { writing = null })
    },
    idle: async (): Promise<void> => { await writing },
  }
}
