import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orThrow } from '../domain/shared/or-throw.ts'
import { createEnvironment } from '../infrastructure/process/clock-and-ids.ts'
import { openForWriting, transaction } from '../infrastructure/sqlite/database.ts'
import { ensureIndex, tableOf, tableSchema } from '../infrastructure/sqlite/documents/documents-schema.ts'
import { openSqliteDocuments } from '../infrastructure/sqlite/documents/documents.ts'
import { EVENT_COLUMNS } from '../infrastructure/sqlite/event-log/event-row.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-log/event-store.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import { BATCH_SIZE, foldLog } from '../projections/fold-log.ts'
import { lives } from '../projections/lives/projection.ts'
import { rebuildReadModel } from '../projections/rebuild/rebuild.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark } from './harness.ts'
import { EVENT_TIME, EVENTS_PER_LIVE, fillWithLives, historyOf, ownerOf } from './log-of-lives.ts'
import { NO_CHECKPOINT } from '../application/ports/documents.ts'


/**
 * The work of the peer: reads all rows of the log in order, and writes the changed documents of each batch once. Its
 * transactions are as large as those of the rebuild.
 */
const rebuildWithPlainSqlite = (directory: string, events: number): void => {
  const log = new DatabaseSync(join(directory, 'events.sqlite'), { readOnly: true })
  const documents = openForWriting(join(directory, 'peer.sqlite'), { synchronous: 'NORMAL' })
  const { name, indexes } = lives.collection
  documents.exec(`DROP TABLE IF EXISTS ${tableOf(name)};${tableSchema(name)}`)
  for (const members of indexes) ensureIndex(documents, name, members)
  const put = documents.prepare(`
    INSERT INTO ${tableOf(name)} AS stored (id, position, body) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET position = excluded.position, body = excluded.body
    WHERE excluded.position > stored.position
  `)
  const [sample] = historyOf(1)
  const template = {
    ...sample?.data, id: 0, status: 'finished', createdAt: EVENT_TIME, updatedAt: EVENT_TIME, position: '0'.repeat(20),
  }
  const select = log.prepare(
    `SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid`
      + ` WHERE e.pos > ? ORDER BY e.pos LIMIT ${BATCH_SIZE}`,
  )
  for (let from = 0; from < events; from += BATCH_SIZE) {
    const rows = select.all(from) as unknown as ReadonlyArray<{ readonly pos: number; readonly stream: string }>
    const last = new Map(rows.map(({ stream, pos }) => [stream.slice('live-'.length), pos]))
    transaction(documents, () => {
      for (const [id, pos] of last)
        put.run(
          id,
          String(pos).padStart(20, '0'),
          JSON.stringify({ ...template, id: Number(id), userId: ownerOf(Number(id)) }),
        )
    })
  }
  log.close()
  documents.close()
}

const rebuildOf = (name: string, events: number, atLeast: number): Benchmark => ({
  name,
  meaning: `rebuilds the list of sessions from ${events} events: reads and verifies rows, folds them, compares the `
    + `lists and replaces the old list`,
  peer: 'plain node:sqlite on one thread: reads the same rows in order and writes the changed documents of each batch '
    + 'once, same schema and indexes',
  unit: 'events',
  basis: 'wall',
  atLeast,
  rounds: 3,
  warmUp: false,
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    const documents = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
    const { signal } = new AbortController()
    await fillWithLives(store, events / EVENTS_PER_LIVE)
    const head = orThrow(await store.head())
    orThrow(await documents.ensure([lives.collection]))
    await foldLog({ store, documents }, lives, { from: NO_CHECKPOINT, to: head, signal })
    const environment = createEnvironment()
    return {
      ours: () =>
        timed(events, async () => {
          const rebuilt = orThrow(await rebuildReadModel({
            store, documents, projection: lives, code: 'bench', environment, timers, signal,
            positionInUse: async () => head, exclusively: (run) => run(), onProgress: () => undefined,
          }))
          if (rebuilt.events !== events || rebuilt.corrected !== 0)
            throw new Error(`rebuilt ${JSON.stringify(rebuilt)}`)
        }),
      peers: () => timed(events, () => rebuildWithPlainSqlite(directory, events)),
      close: async () => {
        await Promise.all([store.close(), documents.close()])
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
})

export const rebuilds: ReadonlyArray<Benchmark> = [
  rebuildOf('rebuild-100k', 100_000, 0.75), rebuildOf('rebuild', 1_000_000, 0.85),
]
