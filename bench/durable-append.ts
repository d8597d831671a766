import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as afterAnswers } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import type { ExpectedRevision } from '../application/ports/event-store.ts'
import { openForWriting, transaction } from '../infrastructure/sqlite/database.ts'
import { EVENT_LOG_SCHEMA } from '../infrastructure/sqlite/event-row.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-store.ts'
import type { Benchmark } from './harness.ts'
import { timed } from './cpu-time.ts'

const TYPE = 'LiveFinished'
const data = { liveId: 7, userId: 3, at: '2026-11-21T09:30:00.123456+00:00', reason: 'finish_message', note: 'x'.repeat(200) }
const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:3', recordedAt: data.at }

const range = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, i) => i)

/** How many rows each commit held, told from the answers: those of one commit come at once. Commits whose answers are read together count as one. */
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
    /** Of the round that is over. */
    take: async (): Promise<ReadonlyArray<number>> => {
      await afterAnswers()
      const taken = sizes
      sizes = []
      return taken
    },
  }
}

/** The rows that the event store writes for `count` appends, `writers` at a time: made beforehand, written in commits of the given sizes. */
const openPeer = (file: string, writers: number, count: number) => {
  const database = openForWriting(file, { synchronous: 'FULL' })
  database.exec(EVENT_LOG_SCHEMA)
  const addStream = database.prepare('INSERT INTO streams(name) VALUES (?)')
  const addEvent = database.prepare(
    'INSERT INTO events(pos, sid, rev, type, id, at, data, metadata, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const advance = database.prepare('UPDATE streams SET last = ? WHERE sid = ?')
  let pos = 0
  const round = (commits: ReadonlyArray<number>) => {
    const [encodedData, encodedMetadata] = [JSON.stringify(data), JSON.stringify(metadata)]
    const names = range(writers).map(() => `bench-${v7()}`)
    const rows = range(count).map((i) => ({ rev: Math.floor(i / writers), writer: i % writers, id: v7(), prev: randomBytes(32), hash: randomBytes(32) }))
    const write = (): void => {
      const sids = names.map((name) => Number(addStream.run(name).lastInsertRowid))
      let from = 0
      for (const size of commits) {
        transaction(database, () => {
          for (const { rev, writer, id, prev, hash } of rows.slice(from, from + size)) {
            pos += 1
            addEvent.run(pos, sids[writer] ?? 0, rev, TYPE, id, Date.now(), encodedData, encodedMetadata, prev, hash)
            advance.run(rev, sids[writer] ?? 0)
          }
        })
        from += size
      }
      if (from !== count) throw new Error(`${from} rows in the commits of ${count} appends`)
    }
    return timed(count, write)
  }
  return { round, close: () => database.close() }
}

const durableAppend = (name: string, writers: number, count: number, atLeast: number | null): Benchmark => ({
  name,
  meaning: `durable appends by ${writers} writers at once, each to a stream of its own and waiting for each answer, through the event store`,
  peer: `bare node:sqlite on one thread: the same rows, made beforehand, in commits as large as the store's last ones, with the same schema and synchronous=FULL`,
  unit: 'appends',
  basis: 'wall',
  atLeast,
  rounds: 9,
  warmUp: true,
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    const peer = openPeer(join(directory, 'peer.sqlite'), writers, count)
    const commits = watchCommits()
    let sizes: ReadonlyArray<number> = []
    const writer = async (ids: ReadonlyArray<string>): Promise<void> => {
      const stream = `bench-${v7()}`
      let expected: ExpectedRevision = 'no-stream'
      for (const id of ids) {
        const appended = await store.append(stream, expected, [{ id, type: TYPE, data, metadata }])()
        if (E.isLeft(appended)) throw new Error(appended.left._tag)
        commits.answer()
        expected = appended.right.revision
      }
    }
    return {
      ours: async () => {
        const ids = range(writers).map(() => range(count / writers).map(() => v7()))
        const round = await timed(count, async () => void (await Promise.all(ids.map(writer))))
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
  durableAppend('append-1', 1, 1000, null),
  durableAppend('append', 64, 12_800, 0.7),
  durableAppend('append-200', 200, 12_800, null),
]
