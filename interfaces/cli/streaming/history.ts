import { join } from 'node:path'
import { ADMISSION_STREAM } from '../../../domain/admission/events.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { membersOf } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { EVENTS_FILE } from '../../compose/stores.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'

/** One event of a session's history, without its members. */
export interface HistoryEntry {
  readonly at: string
  readonly stream: string
  readonly type: string
}

const entryOf = ({ metadata, stream, type }: StoredEvent): HistoryEntry => ({ at: metadata.recordedAt, stream, type })

/**
 * Reads the events of one session in log order, including its reservation and its segments. The service of this data
 * directory must be stopped.
 */
export const historyOf = async (dataDirectory: string, liveId: number): Promise<ReadonlyArray<HistoryEntry>> => {
  const store = await openSqliteEventStore({ file: join(dataDirectory, EVENTS_FILE) })
  try {
    const streams = [ADMISSION_STREAM, liveStream(liveId), segmentsStream(liveId)]
    const events: Array<StoredEvent> = []
    for (const stream of streams) {
      const read = orThrow(await store.read(stream), 'cannot read the history')
      events.push(...read.filter((event) => stream !== ADMISSION_STREAM || membersOf(event)['liveId'] === liveId))
    }
    return events.toSorted((a, b) => (a.position < b.position ? -1 : 1)).map(entryOf)
  } finally {
    await store.close()
  }
}
