import { workerData } from 'node:worker_threads'
import type { ExpectedRevision, Revision } from '../../application/ports/event-store.ts'
import { outcomeOfAppend } from './append-outcome.ts'
import { openForWriting } from './database.ts'
import { EVENT_LOG_SCHEMA, GENESIS, contentDigests, rowHash } from './event-row.ts'
import { startRetention } from './event-retention.ts'
import { serveGroupCommit } from './group-commit.ts'

/** An event with its JSON members as text. */
interface EncodedEvent {
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
}

export type EventLogJob =
  | { readonly kind: 'append'; readonly stream: string; readonly expected: ExpectedRevision; readonly events: ReadonlyArray<EncodedEvent> }
  | { readonly kind: 'set-metadata'; readonly stream: string; readonly maxCount: number | null; readonly maxAgeMs: number | null }
  | { readonly kind: 'delete'; readonly stream: string }

export type EventLogAnswer =
  | { readonly kind: 'appended'; readonly revision: Revision; readonly pos: number }
  | { readonly kind: 'wrong-revision'; readonly actual: Revision | 'no-stream' }
  | { readonly kind: 'done' }

const { file } = workerData as { readonly file: string }
const database = openForWriting(file, { synchronous: 'FULL' })
database.exec(EVENT_LOG_SCHEMA)
const retention = startRetention(database)

const findStream = database.prepare('SELECT sid, last, base FROM streams WHERE name = ?')
const addStream = database.prepare('INSERT INTO streams(name) VALUES (?) ON CONFLICT DO NOTHING')
const findEvent = database.prepare('SELECT pos, id FROM events WHERE sid = ? AND rev = ?')
const lastRow = database.prepare('SELECT pos, at, hash FROM events ORDER BY pos DESC LIMIT 1')
const addEvent = database.prepare(
  'INSERT INTO events(pos, sid, rev, type, id, at, data, metadata, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
)
const advance = database.prepare(`
  UPDATE streams SET last = :last, oldest_at = CASE WHEN max_age_ms IS NULL THEN NULL ELSE coalesce(oldest_at, :at) END WHERE sid = :sid
`)
const setLimits = database.prepare(`
  UPDATE streams SET max_count = :maxCount, max_age_ms = :maxAgeMs,
    oldest_at = CASE WHEN :maxAgeMs IS NULL THEN NULL
      ELSE (SELECT at FROM events WHERE events.sid = streams.sid AND rev >= first ORDER BY rev LIMIT 1) END
  WHERE name = :name
`)
const truncateByCount = database.prepare('UPDATE streams SET first = last + 1 - max_count WHERE name = ? AND last + 1 - max_count > first')
const deleteStream = database.prepare('UPDATE streams SET first = last + 1, base = last + 1, oldest_at = NULL WHERE name = ?')

interface StreamRow {
  readonly sid: number
  readonly last: Revision
  readonly base: Revision
}

const streamNamed = (name: string): StreamRow => {
  addStream.run(name)
  return findStream.get(name) as unknown as StreamRow
}

const write = (name: string, { sid }: StreamRow, from: Revision, events: ReadonlyArray<EncodedEvent>): number => {
  const before = lastRow.get() as { readonly pos: number; readonly at: number; readonly hash: Uint8Array } | undefined
  const at = Math.max(Date.now(), before?.at ?? 0)
  let pos = before?.pos ?? 0
  let prev: Uint8Array = before?.hash ?? GENESIS
  for (const [index, { id, type, data, metadata }] of events.entries()) {
    pos += 1
    const rev = from + index
    const hash = rowHash({ pos, stream: name, rev, type, id, at, prev }, contentDigests(data, metadata))
    addEvent.run(pos, sid, rev, type, id, at, data, metadata, prev, hash)
    prev = hash
  }
  advance.run({ sid, last: from + events.length - 1, at })
  truncateByCount.run(name)
  return pos
}

const append = ({ stream, expected, events }: Extract<EventLogJob, { kind: 'append' }>): EventLogAnswer => {
  const known = findStream.get(stream) as StreamRow | undefined
  const eventAt = (revision: Revision): { readonly pos: number; readonly id: string } | undefined =>
    known && (findEvent.get(known.sid, revision) as { readonly pos: number; readonly id: string } | undefined)
  const state = { last: known?.last ?? -1, base: known?.base ?? 0, idAt: (revision: Revision) => eventAt(revision)?.id }
  const outcome = outcomeOfAppend(state, expected, events.map(({ id }) => id))
  switch (outcome.kind) {
    case 'wrong-revision':
      return { kind: 'wrong-revision', actual: state.last < 0 ? 'no-stream' : state.last }
    case 'stored':
      return { kind: 'appended', revision: outcome.last, pos: eventAt(outcome.last)?.pos ?? 0 }
    case 'append': {
      const pos = write(stream, known ?? streamNamed(stream), outcome.from, events)
      return { kind: 'appended', revision: outcome.from + events.length - 1, pos }
    }
  }
}

const apply = (job: EventLogJob): EventLogAnswer => {
  switch (job.kind) {
    case 'append':
      return append(job)
    case 'set-metadata':
      streamNamed(job.stream)
      setLimits.run({ name: job.stream, maxCount: job.maxCount, maxAgeMs: job.maxAgeMs })
      truncateByCount.run(job.stream)
      return { kind: 'done' }
    case 'delete':
      deleteStream.run(job.stream)
      return { kind: 'done' }
  }
}

const committed = (): undefined => {
  retention.schedule()
}

serveGroupCommit<EventLogJob, EventLogAnswer>({ database, apply, committed, closing: retention.stop })
