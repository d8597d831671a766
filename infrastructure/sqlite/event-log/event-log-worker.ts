import { workerData } from 'node:worker_threads'
import type { Revision } from '../../../application/ports/event-store.ts'
import { outcomeOfAppend } from '../../store-rules/append-outcome.ts'
import { openForWriting } from '../database.ts'
import { GENESIS, rowHash } from './event-row.ts'
import {
  type EncodedEvent, type EventLogAnswer, type EventLogJob, eventsOf, type FlatAppend, isAppend,
} from './event-log-job.ts'
import { startRetention } from './event-retention.ts'
import { type SharedClock, startSharedClock } from '../log-clock.ts'
import { serveGroupCommit } from '../group-commit.ts'
import { SET_DIGEST, newStreamDigest, prepareEventLog } from './stream-digest.ts'

const { file, clock } = workerData as { readonly file: string; readonly clock: SharedClock }
const database = openForWriting(file, { synchronous: 'FULL' })
prepareEventLog(database)
const now = startSharedClock(clock, database)
const retention = startRetention(database, now)

const findStream = database.prepare(`
  SELECT sid, last, base, max_count IS NOT NULL OR max_age_ms IS NOT NULL AS isLimited FROM streams WHERE name = ?
`)
const addStream = database.prepare('INSERT INTO streams(name, digest) VALUES (?, ?)')
const findEvent = database.prepare('SELECT pos, id FROM events WHERE sid = ? AND rev = ?')
const lastRow = database.prepare('SELECT pos, at, hash FROM events ORDER BY pos DESC LIMIT 1')
const addEvent = database.prepare(
  'INSERT INTO events(pos, sid, rev, type, id, at, data, metadata, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
)
const advance = database.prepare('UPDATE streams SET last = ? WHERE sid = ?')
const setOldest = database.prepare(
  'UPDATE streams SET oldest_at = coalesce(oldest_at, ?) WHERE sid = ? AND max_age_ms IS NOT NULL',
)
const setLimits = database.prepare(`
  UPDATE streams SET max_count = :maxCount, max_age_ms = :maxAgeMs,
    oldest_at = CASE WHEN :maxAgeMs IS NULL THEN NULL
      ELSE (SELECT at FROM events WHERE events.sid = streams.sid AND rev >= first ORDER BY rev LIMIT 1) END
  WHERE name = :name
`)
const updateDigest = database.prepare(`${SET_DIGEST} WHERE name = ?`)
const truncateByCount = database.prepare(
  'UPDATE streams SET first = last + 1 - max_count WHERE name = ? AND last + 1 - max_count > first',
)
const deleteStream = database.prepare(
  'UPDATE streams SET first = last + 1, base = last + 1, oldest_at = NULL WHERE name = ?',
)

interface StreamRow {
  readonly sid: number
  last: Revision
  readonly base: Revision
  /** 1: the stream has a $maxCount or a $maxAge. */
  readonly isLimited: number
}

interface LastRow {
  readonly pos: number
  readonly at: number
  readonly hash: Uint8Array
}

/** Above this number the stream that was cached first is dropped. */
const MAX_CACHED_STREAMS = 4096
/** Cached rows of streams and the last row of the log. The cache is safe, because only this thread writes the file. */
const cachedStreams = new Map<string, StreamRow>()
let newest: LastRow | null = null

/** A rollback makes the cache wrong. */
const clearCache = (): void => {
  cachedStreams.clear()
  newest = null
}

const cacheStream = (name: string, stream: StreamRow): StreamRow => {
  cachedStreams.set(name, stream)
  if (cachedStreams.size > MAX_CACHED_STREAMS) cachedStreams.delete(cachedStreams.keys().next().value ?? '')
  return stream
}

const streamNamed = (name: string): StreamRow | undefined => {
  const known = cachedStreams.get(name)
  if (known !== undefined) return known
  const found = findStream.get(name) as StreamRow | undefined
  return found && cacheStream(name, found)
}

const newStream = (name: string): StreamRow => {
  const sid = Number(addStream.run(name, newStreamDigest(name)).lastInsertRowid)
  return cacheStream(name, { sid, last: -1, base: 0, isLimited: 0 })
}

const write = (name: string, stream: StreamRow, from: Revision, events: ReadonlyArray<EncodedEvent>): number => {
  newest ??= (lastRow.get() as LastRow | undefined) ?? { pos: 0, at: 0, hash: GENESIS }
  let { pos, hash: prev } = newest
  const { sid } = stream
  const at = Math.max(now(), newest.at)
  for (const [index, [id, type, data, metadata, digests]] of events.entries()) {
    pos += 1
    const rev = from + index
    const hash = rowHash({ pos, stream: name, rev, type, id, at, prev }, digests)
    addEvent.run(pos, sid, rev, type, id, at, data, metadata, prev, hash)
    prev = hash
  }
  newest = { pos, at, hash: prev }
  const last = from + events.length - 1
  advance.run(last, sid)
  if (stream.isLimited !== 0) {
    setOldest.run(at, sid)
    truncateByCount.run(name)
    updateDigest.run(name)
  }
  stream.last = last
  return pos
}

const append = (job: FlatAppend): EventLogAnswer => {
  const [expected, stream] = job
  const events = eventsOf(job)
  const known = streamNamed(stream)
  const eventAt = (revision: Revision): { readonly pos: number; readonly id: string } | undefined =>
    known && (findEvent.get(known.sid, revision) as { readonly pos: number; readonly id: string } | undefined)
  const state = { last: known?.last ?? -1, base: known?.base ?? 0, idAt: (revision: Revision) => eventAt(revision)?.id }
  const outcome = outcomeOfAppend(state, expected, events.map(([id]) => id))
  switch (outcome.kind) {
    case 'wrong-revision':
      return { actual: state.last < 0 ? 'no-stream' : state.last }
    case 'stored':
      return [outcome.last, eventAt(outcome.last)?.pos ?? 0]
    case 'append': {
      const pos = write(stream, known ?? newStream(stream), outcome.from, events)
      return [outcome.from + events.length - 1, pos]
    }
  }
}

const apply = (job: EventLogJob): EventLogAnswer => {
  if (isAppend(job)) return append(job)
  switch (job.kind) {
    case 'set-metadata':
      if (streamNamed(job.stream) === undefined) newStream(job.stream)
      setLimits.run({ name: job.stream, maxCount: job.maxCount, maxAgeMs: job.maxAgeMs })
      truncateByCount.run(job.stream)
      updateDigest.run(job.stream)
      cachedStreams.delete(job.stream)
      return 'done'
    case 'delete':
      deleteStream.run(job.stream)
      updateDigest.run(job.stream)
      cachedStreams.delete(job.stream)
      return 'done'
  }
}

serveGroupCommit<EventLogJob, EventLogAnswer>({
  database, apply, committed: retention.schedule, rolledBack: clearCache, closing: retention.stop,
})
