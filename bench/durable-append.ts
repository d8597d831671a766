import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import type { NewEvent } from '../application/ports/event-store.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-store.ts'
import type { Benchmark } from './harness.ts'
import { rate } from './harness.ts'

const COUNT = 1000
const payload = { liveId: 7, userId: 3, at: '2026-11-21T09:30:00.123456+00:00', reason: 'finish_message', note: 'x'.repeat(200) }
const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:3', recordedAt: payload.at }
const newEvent = (): NewEvent => ({ id: v7(), type: 'LiveFinished', data: payload, metadata })

/** One insert a commit, synchronous=FULL, on the calling thread: the least that a durable append can cost here. */
const openPeer = (file: string) => {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE events (position INTEGER PRIMARY KEY, id TEXT, data TEXT, metadata TEXT)')
  const insert = database.prepare('INSERT INTO events (id, data, metadata) VALUES (?, ?, ?)')
  return { append: () => insert.run(v7(), JSON.stringify(payload), JSON.stringify(metadata)), close: () => database.close() }
}

const durableAppend = (name: string, concurrency: number): Benchmark => ({
  name,
  meaning: `durable appends a second, ${concurrency} at a time, each to a stream of its own`,
  peer: 'bare node:sqlite, one insert a commit, synchronous=FULL',
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    const peer = openPeer(join(directory, 'peer.sqlite'))
    const appendOne = async (): Promise<void> => {
      const appended = await store.append(`bench-${v7()}`, 'no-stream', [newEvent()])()
      if (E.isLeft(appended)) throw new Error(appended.left._tag)
    }
    const client = async (): Promise<void> => {
      for (let i = 0; i < COUNT / concurrency; i += 1) await appendOne()
    }
    return {
      ours: () => rate(COUNT, async () => void (await Promise.all(Array.from({ length: concurrency }, client)))),
      peers: () => rate(COUNT, () => Array.from({ length: COUNT }).forEach(() => peer.append())),
      close: async () => {
        await store.close()
        peer.close()
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
})

export const durableAppends: ReadonlyArray<Benchmark> = [durableAppend('append-1', 1), durableAppend('append-200', 200)]
