import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import { BEGINNING } from '../application/ports/event-store.ts'
import type { EventStore } from '../application/ports/event-store.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { openForWriting, transaction } from '../infrastructure/sqlite/database.ts'
import { ensureIndex, tableOf, tableSchema } from '../infrastructure/sqlite/documents-schema.ts'
import { openSqliteDocuments } from '../infrastructure/sqlite/documents.ts'
import { EVENT_COLUMNS } from '../infrastructure/sqlite/event-row.ts'
import { openSqliteEventStore } from '../infrastructure/sqlite/event-store.ts'
import { foldLog } from '../projections/fold-log.ts'
import { lives } from '../projections/lives.ts'
import { rebuildReadModel } from '../projections/rebuild.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark } from './harness.ts'

const EVENTS_A_LIVE = 4
const LIVES_AT_ONCE = 500
/** Of the fold; the peer's transactions are as large. */
const BATCH = 2000

const at = '2026-11-21T09:30:00.123456+00:00'
const metadata = { correlationId: v7(), causationId: v7(), actor: 'user:3', recordedAt: at }
const envelope = (key: string) => ({ k: key, iv: 'A'.repeat(16), c: 'A'.repeat(80) })

/** What a live without a URL leaves, in the form in which it is stored. */
const historyOf = (liveId: number) => {
  const about = { liveId, userId: 1 + (liveId % 1000), at }
  const [senderToken, listenerToken] = [envelope(`live-${liveId}`), envelope(`live-${liveId}`)]
  const hashes = { audioUrlHash: null, senderTokenHash: 'h'.repeat(43), listenerTokenHash: 'h'.repeat(43) }
  const created = {
    ...about, commandId: v7(), worker: 'local', model: { id: 1, name: 'tiny', vram: 1000 }, language: 'en', translations: [],
    audioFormat: 'raw', audioUrl: null, autoStart: false, retention: false, vram: 1000, config: DEFAULT_ENGINE_SETTINGS, display: null,
    senderToken, listenerToken, ...hashes,
  }
  return [
    { type: 'LiveCreated', data: created },
    { type: 'SenderAttached', data: { ...about, epoch: 1, instance: 'bench' } },
    { type: 'LiveStarted', data: about },
    { type: 'LiveFinished', data: { ...about, reason: 'finish_message' } },
  ].map((event) => ({ ...event, id: v7(), metadata }))
}

const orThrow = <A>(result: Either<unknown, A>): A => {
  if (E.isRight(result)) return result.right
  throw new Error(JSON.stringify(result.left))
}

const fill = async (store: EventStore, count: number): Promise<void> => {
  for (let from = 1; from <= count; from += LIVES_AT_ONCE) {
    const ids = Array.from({ length: Math.min(LIVES_AT_ONCE, count - from + 1) }, (_, n) => from + n)
    for (const appended of await Promise.all(ids.map((id) => store.append(`live-${id}`, 'no-stream', historyOf(id))()))) orThrow(appended)
  }
}

/** Every row of the log read in order, and for each batch the documents that it touches written once, as they end up. */
const barely = (directory: string, events: number): void => {
  const log = new DatabaseSync(join(directory, 'events.sqlite'), { readOnly: true })
  const documents = openForWriting(join(directory, 'peer.sqlite'), { synchronous: 'NORMAL' })
  const { name, indexes } = lives.collection
  documents.exec(`DROP TABLE IF EXISTS ${tableOf(name)};${tableSchema(name)}`)
  for (const members of indexes) ensureIndex(documents, name, members)
  const put = documents.prepare(`
    INSERT INTO ${tableOf(name)} AS stored (id, position, body) VALUES (?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET position = excluded.position, body = excluded.body WHERE excluded.position > stored.position
  `)
  const [sample] = historyOf(1)
  const template = { ...sample?.data, id: 0, status: 'finished', createdAt: at, updatedAt: at, position: '0'.repeat(20) }
  const select = log.prepare(`SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s ON s.sid = e.sid WHERE e.pos > ? ORDER BY e.pos LIMIT ${BATCH}`)
  for (let from = 0; from < events; from += BATCH) {
    const rows = select.all(from) as unknown as ReadonlyArray<{ readonly pos: number; readonly stream: string }>
    const last = new Map(rows.map(({ stream, pos }) => [stream.slice('live-'.length), pos]))
    transaction(documents, () => {
      for (const [id, pos] of last)
        put.run(id, String(pos).padStart(20, '0'), JSON.stringify({ ...template, id: Number(id), userId: 1 + (Number(id) % 1000) }))
    })
  }
  log.close()
  documents.close()
}

const rebuildOf = (name: string, events: number, rounds: number): Benchmark => ({
  name,
  meaning: `the list of lives rebuilt from ${events} events: read and verified, folded, compared with the list in use, put in its place`,
  peer: 'bare node:sqlite on one thread: the same rows read in order, the documents that each batch touches written once, same schema and indexes',
  unit: 'events',
  basis: 'wall',
  atLeast: 0.5,
  rounds,
  warmUp: false,
  prepare: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
    const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
    const documents = await openSqliteDocuments({ file: join(directory, 'documents.sqlite') })
    const { signal } = new AbortController()
    await fill(store, events / EVENTS_A_LIVE)
    const head = orThrow(await store.head()())
    orThrow(await documents.ensure([lives.collection])())
    await foldLog({ store, documents }, lives, { from: BEGINNING, to: head, signal })
    const environment = { monotonic: () => performance.now() }
    return {
      ours: () =>
        timed(events, async () => {
          const rebuilt = orThrow(await rebuildReadModel({
            store, documents, projection: lives, environment, signal, standing: async () => head, exclusively: (run) => run(), onProgress: () => undefined,
          }))
          if (rebuilt.events !== events || rebuilt.corrected !== 0) throw new Error(`rebuilt ${JSON.stringify(rebuilt)}`)
        }),
      peers: () => timed(events, () => barely(directory, events)),
      close: async () => {
        await Promise.all([store.close(), documents.close()])
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
})

export const rebuilds: ReadonlyArray<Benchmark> = [rebuildOf('rebuild-100k', 100_000, 3), rebuildOf('rebuild', 1_000_000, 3)]
