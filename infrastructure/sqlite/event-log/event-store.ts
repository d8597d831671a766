import * as E from 'fp-ts/lib/Either.js'
import { createOutage } from '../../../application/outages.ts'
import type { EventStore, NewEvent, StoreUnavailable } from '../../../application/ports/event-store.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { requireWellFormed } from '../../store-rules/append-outcome.ts'
import type { EncodedEvent, EventLogAnswer, EventLogJob, FlatAppend } from './event-log-job.ts'
import { openSqliteEventReader } from './event-reader.ts'
import { contentDigests, toPosition } from './event-row.ts'
import { newSharedClock, timeOf } from '../log-clock.ts'
import { openWriter } from '../writer.ts'

const encoded = ({ id, type, data, metadata }: NewEvent): EncodedEvent => {
  const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)]
  return [id, type, dataText, metadataText, contentDigests(dataText, metadataText)]
}

interface EventStoreOptions {
  readonly file: string
  readonly logger?: Logger
}

/**
 * Opens the embedded event store: one SQLite file. A worker thread writes it, the calling thread reads it. Only one
 * process may open it (see `acquireDataDirectory`).
 */
export const openSqliteEventStore = async ({ file, logger }: EventStoreOptions): Promise<EventStore> => {
  const wakers = new Set<() => void>()
  const wakeAll = (): void => {
    for (const wake of wakers) wake()
  }
  const worker = new URL('./event-log-worker.ts', import.meta.url)
  const clock = newSharedClock()
  const writer = await openWriter<EventLogJob, EventLogAnswer>(worker, { file, clock }, wakeAll)
  const { close: closeReader, ...reader } = openSqliteEventReader({ file, wakers, now: () => timeOf(clock) })

  const outage = logger && createOutage(
    { logger, environment: { monotonic: () => performance.now() } },
    'a write to the event log failed',
    'writes to the event log succeed again',
  )
  const refused = (stream: string, reason: string): E.Either<StoreUnavailable, never> => {
    outage?.failed(reason, { stream })
    return E.left({ _tag: 'StoreUnavailable', reason })
  }

  const append: EventStore['append'] = async (stream, expected, events) => {
    requireWellFormed(events)
    const answer = await writer.submit([expected, stream, ...events.flatMap(encoded)])
    if (E.isLeft(answer)) return refused(stream, answer.left)
    if (answer.right === 'done') throw new Error('the writer sent the answer of another job')
    if ('actual' in answer.right) return E.left({ _tag: 'WrongRevision', stream, actual: answer.right.actual })
    outage?.ended()
    const [revision, pos] = answer.right
    return E.right({ revision, position: toPosition(pos) })
  }

  const submit = async (job: Exclude<EventLogJob, FlatAppend>): Promise<E.Either<StoreUnavailable, void>> => {
    const answer = await writer.submit(job)
    return E.isLeft(answer) ? refused(job.stream, answer.left) : E.right(undefined)
  }

  return {
    ...reader,
    append,
    setMetadata: (stream, { maxCount = null, maxAgeSeconds }) => submit({
        kind: 'set-metadata', stream, maxCount, maxAgeMs: maxAgeSeconds === undefined ? null : maxAgeSeconds * 1000,
      }),
    deleteStream: (stream) => submit({ kind: 'delete', stream }),
    close: async () => {
      // The connection that is closed last merges the write-ahead file. Only the writer can merge it, so it is last.
      await closeReader()
      await writer.close()
    },
  }
}
