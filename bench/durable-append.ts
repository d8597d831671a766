import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as afterAnswers } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import type { EventStore, ExpectedRevision } from '../application/ports/event-store.ts'
import { openForWriting, transaction } from '../infrastructure/sqlite/database.ts'
import { EVENT_LOG_SCHEMA } from '../infrastructure/sqlite/event-log/event-row.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import type { Benchmark, Round } from './harness.ts'
import { timed } from './cpu-time.ts'

const TYPE = 'LiveFinished'
const data = {
  liveId: 7, userId: 3, at: '2026-11-21T09:30:00.123456+00:00', reason: 'finish_message', note: 'x'.repeat(200),
}
const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:3', recordedAt: data.at }

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** Runs `count` appends with concurrent writers. Each writer has its own stream and waits for each answer. */
export const appendAtOnce = (
  store: EventStore,
  writers: number,
  count: number,
  answered = (): void => undefined,
): Promise<Round> => {
  const write = async (ids: ReadonlyArray<string>): Promise<void> => {
    const stream = `bench-${v7()}`
    let expected: ExpectedRevision = 'no-stream'
    for (const id of ids) {
      const appended = await store.append(stream, expected, [{ id, type: TYPE, data, metadata }])
      if (E.isLeft(appended)) throw new Error(appended.left._tag)
      answered()
      expected = appended.right.revision
    }
  }
  const ids = range(writers).map(() => range(count / writers).map(() => v7()))
  return timed(count, async () => void (await Promise.all(ids.map(write))))
}

/**
 * Counts the rows of each commit. The answers to the rows of a commit arrive in one turn of the event loop. So all
 * answers of a turn count as one commit.
 */
const watchCommits = () => {
  let sizes: number[] = []
  let answered = 0
  return {
    answer: (): void => {
      answered += 1
      if (answered > 1) return
      setImmediate(() => {
        sizes.push(answered)
        answered = 0
      })
    },
    /** Returns the sizes of the commits of the last round, and forgets them. */
    take: async (): Promise<ReadonlyArray<number>> => {
      await afterAnswers()
      const taken = sizes
      sizes = []
      return taken
    },
  }
}

/** The peer does all steps of an append (`program`), or only inserts prepared rows (`rows`). */
type Peer = 'program' | 'rows'

const PEERS: Readonly<Record<Peer, string>> = {
  program: 'plain node:sqlite on one thread: for each event its JSON, the comparison of the last revision, the row '
    + 'and the new revision',
  rows: 'bare node:sqlite on one thread: inserts rows that were prepared beforehand, and compares nothing',
}

const encode = () => ({ data: JSON.stringify(data), metadata: JSON.stringify(metadata) })

/**
 * Writes the rows of `count` appends like the event store, in commits of the given sizes. Random bytes replace the
 * hashes.
 */
const openPeer = (kind: Peer, file: string, writers: number, count: number) => {
  const database = openForWriting(file, { synchronous: 'FULL' })
  database.exec(EVENT_LOG_SCHEMA)
  const addStream = database.prepare('INSERT INTO streams(name) VALUES (?)')
  const findStream = database.prepare('SELECT sid, last FROM streams WHERE name = ?')
  const addEvent = database.prepare(
    'INSERT INTO events(pos, sid, rev, type, id, at, data, metadata, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const advance = database.prepare('UPDATE streams SET last = ? WHERE sid = ?')
  const streamAt = (name: string, expected: number): number => {
    const stream = findStream.get(name) as { readonly sid: number; readonly last: number }
    if (stream.last !== expected) throw new Error(`${name} ends at ${stream.last}, not ${expected}`)
    return stream.sid
  }
  const beforehand = encode()
  let pos = 0
  const round = (commits: ReadonlyArray<number>) => {
    const names = range(writers).map(() => `bench-${v7()}`)
    const sids = names.map((name) => Number(addStream.run(name).lastInsertRowid))
    const rows = range(count).map((i) => {
      const [writer, rev] = [i % writers, Math.floor(i / writers)]
      return {
        name: names[writer] ?? '', sid: sids[writer] ?? 0, rev, id: v7(), prev: randomBytes(32), hash: randomBytes(32),
      }
    })
    const insert = ({ name, sid, rev, id, prev, hash }: (typeof rows)[number]): void => {
      const at = Date.now()
      const [encoded, stream] = kind === 'rows' ? [beforehand, sid] : [encode(), streamAt(name, rev - 1)]
      pos += 1
      addEvent.run(pos, stream, rev, TYPE, id, at, encoded.data, encoded.metadata, prev, hash)
      advance.run(rev, stream)
    }
    return timed(count, () => {
      let from = 0
      for (const size of commits) {
        transaction(database, () => rows.slice(from, from + size).forEach(insert))
        from += size
      }
      if (from !== count) throw new Error(`${from} rows in the commits of ${count} appends`)
    })
  }
  return { round, close: () => database.close() }
}

const durableAppend = (
  name: string,
  kind: Peer,
  writers: number,
  count: number,
  atLeast: number | null,
): Benchmark => ({
  name,
  meaning: `durable appends by ${writers} concurrent writers, each to its own stream, through the event store; each `
    + `writer waits for its answers`,
  peer: `${PEERS[kind]}; in commits as large as those of the store in its last round, with the same schema and `
    + 'synchronous=FULL',
  unit: 'appends',
  basis: 'wall',
  atLeast,
  rounds: 9,
  warmUp: true,
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    const peer = openPeer(kind, join(directory, 'peer.sqlite'), writers, count)
    const commits = watchCommits()
    let sizes: ReadonlyArray<number> = []
    return {
      ours: async () => {
        const round = await appendAtOnce(store, writers, count, commits.answer)
        sizes = await commits.take()
        return round
      },
      peers: () => peer.round(sizes),
      close: async () => {
        await store.close()
        peer.close()
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
})

export const durableAppends: ReadonlyArray<Benchmark> = [
  durableAppend('append-1', 'program', 1, 1000, null),
  durableAppend('append', 'program', 64, 12_800, 0.7),
  durableAppend('append-200', 'program', 200, 12_800, null),
  durableAppend('append-rows', 'rows', 64, 12_800, null),
]
