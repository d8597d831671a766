import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { requireWellFormed } from './append-outcome.ts'
import type { EventLogAnswer, EventLogJob } from './event-log-worker.ts'
import { openSqliteEventReader } from './event-reader.ts'
import { contentDigests, toPosition } from './event-row.ts'
import { openWriter } from './writer.ts'

const unavailable = (reason: string): StoreUnavailable => ({ _tag: 'StoreUnavailable', reason })

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

  const submit = async (job: EventLogJob): Promise<E.Either<StoreUnavailable, EventLogAnswer>> => {
    const answer = await writer.submit(job)
    if (E.isRight(answer)) return answer
    logger?.error({ stream: job.stream, reason: answer.left }, 'the event log did not take a write')
    return E.left(unavailable(answer.left))
  }

  const append: EventStore['append'] = (stream, expected, events) => async () => {
    requireWellFormed(events)
    const encoded = events.map(({ id, type, ...event }) => {
      const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)]
      return [id, type, data, metadata, contentDigests(data, metadata)] as const
    })
    const answer = await submit({ kind: 'append', stream, expected, events: encoded })
    if (E.isLeft(answer)) return answer
    switch (answer.right.kind) {
      case 'appended':
        return E.right({ revision: answer.right.revision, position: toPosition(answer.right.pos) })
      case 'wrong-revision':
        return E.left({ _tag: 'WrongRevision', stream, actual: answer.right.actual })
      case 'done':
        throw new Error('the writer answered something else than was asked')
    }
  }

  const done = async (job: EventLogJob): Promise<E.Either<StoreUnavailable, void>> => {
    const answer = await submit(job)
    return E.isLeft(answer) ? answer : E.right(undefined)
  }

  return {
    ...reader,
    append,
    setMetadata: (stream, { maxCount = null, maxAgeSeconds }) => () =>
      done({ kind: 'set-metadata', stream, maxCount, maxAgeMs: maxAgeSeconds === undefined ? null : maxAgeSeconds * 1000 }),
    deleteStream: (stream) => () => done({ kind: 'delete', stream }),
    close: async () => {
      await writer.close()
      await closeReader()
    },
  }
}
