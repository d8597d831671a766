import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, NewEvent, StoreUnavailable } from '../../../application/ports/event-store.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { requireWellFormed } from '../../stores/append-outcome.ts'
import type { EncodedEvent, EventLogAnswer, EventLogJob, FlatAppend } from './event-log-job.ts'
import { openSqliteEventReader } from './event-reader.ts'
import { contentDigests, toPosition } from './event-row.ts'
import { openWriter } from '../writer.ts'

const encoded = ({ id, type, data, metadata }: NewEvent): EncodedEvent => {
  const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)]
  return [id, type, dataText, metadataText, contentDigests(dataText, metadataText)]
}

/**
 * The embedded event store: one SQLite file, written by one worker thread, read on the calling one. Only one process
 * may have it open (see `acquireDataDirectory`).
 */
export const openSqliteEventStore = async ({ file, logger }: { readonly file: string; readonly logger?: Logger }): Promise<EventStore> => {
  const wakers = new Set<() => void>()
  const writer = await openWriter<EventLogJob, EventLogAnswer>(new URL('./event-log-worker.ts', import.meta.url), { file }, () => {
    for (const wake of wakers) wake()
  })
  const { close: closeReader, ...reader } = openSqliteEventReader({ file, wakers })

  const refused = (stream: string, reason: string): E.Either<StoreUnavailable, never> => {
    logger?.error({ stream, reason }, 'the event log did not take a write')
    return E.left({ _tag: 'StoreUnavailable', reason })
  }

  const append: EventStore['append'] = (stream, expected, events) => async () => {
    requireWellFormed(events)
    const answer = await writer.submit([expected, stream, ...events.flatMap(encoded)])
    if (E.isLeft(answer)) return refused(stream, answer.left)
    if (answer.right === 'done') throw new Error('the writer answered something else than was asked')
    if ('actual' in answer.right) return E.left({ _tag: 'WrongRevision', stream, actual: answer.right.actual })
    const [revision, pos] = answer.right
    return E.right({ revision, position: toPosition(pos) })
  }

  const done = async (job: Exclude<EventLogJob, FlatAppend>): Promise<E.Either<StoreUnavailable, void>> => {
    const answer = await writer.submit(job)
    return E.isLeft(answer) ? refused(job.stream, answer.left) : E.right(undefined)
  }

  return {
    ...reader,
    append,
    setMetadata: (stream, { maxCount = null, maxAgeSeconds }) => () =>
      done({ kind: 'set-metadata', stream, maxCount, maxAgeMs: maxAgeSeconds === undefined ? null : maxAgeSeconds * 1000 }),
    deleteStream: (stream) => () => done({ kind: 'delete', stream }),
    close: async () => {
      // The writer last: whoever closes last puts the write-ahead file into the database, which a reader cannot.
      await closeReader()
      await writer.close()
    },
  }
}
