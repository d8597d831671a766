import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sealEvents } from '../application/log/event-serialization.ts'
import type { Position, StoredEvent } from '../application/ports/event-store.ts'
import type { LiveStatus } from '../application/ports/read-models.ts'
import type { PageQuery } from '../application/ports/documents.ts'
import { liveStream, type LiveEvent } from '../domain/live/events.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { openSqliteDocuments } from '../infrastructure/sqlite/documents/documents.ts'
import { openSqliteKeyring } from '../infrastructure/sqlite/keyring/keyring.ts'
import { changesOf } from '../projections/apply.ts'
import { liveCounts } from '../projections/live-counts/projection.ts'
import { lives } from '../projections/lives/projection.ts'
import { listLives } from '../projections/lives/queries.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark, Round } from './harness.ts'
import { modelOf } from '../projections/projection.ts'

const USER = 3
const FEW = 100
const MANY = 100_000
const PAGES = 40
/** Number of sessions whose events the projections apply in one step. */
const STEP = 1000

/** Returns the events of an ended session. Every second session has failed. */
const eventsOf = (liveId: number): ReadonlyArray<LiveEvent> => {
  const about = {
    liveId, userId: USER, at: new Date(Date.UTC(2026, 0, 1) + liveId * 1000).toISOString().replace('Z', '000+00:00'),
  }
  const created = {
    ...about, commandId: `create-${liveId}`, worker: 'local', model: { id: 1, name: 'demo-en', vram: 1000 },
    language: 'en', translations: [],
    audioFormat: 'hls', audioUrl: `https://radio.example/${liveId}.m3u8`, audioUrlHash: `hash of ${liveId}`,
    autoStart: false, retention: false,
    vram: 1000, config: DEFAULT_ENGINE_SETTINGS, display: null, senderToken: `sender of ${liveId}`,
    senderTokenHash: `s ${liveId}`,
    listenerToken: `listener of ${liveId}`, listenerTokenHash: `l ${liveId}`,
  } as const
  const ended: LiveEvent =
    liveId % 2 === 0
      ? { type: 'LiveFinished', data: { ...about, reason: 'finish_route' } }
      : { type: 'LiveFailed', data: { ...about, code: 'engine_failed', detail: '' } }
  return [{ type: 'LiveCreated', data: created }, ended]
}

const openStores = async (directory: string, count: number) => {
  const documents = await openSqliteDocuments({ file: join(directory, `documents-${count}.sqlite`) })
  const keyring = await openSqliteKeyring(
    { file: join(directory, `keyring-${count}.sqlite`), masterKey: Buffer.alloc(32, 7) },
  )
  return { documents, keyring, close: async () => void (await Promise.all([documents.close(), keyring.close()])) }
}

/** Fills embedded stores with `count` sessions of one user, by applying the events of these sessions. */
const seed = async (directory: string, count: number): Promise<void> => {
  const { documents, keyring, close } = await openStores(directory, count)
  orThrow(await documents.ensure([lives.collection, liveCounts.collection]))
  let position = 0
  const storedOf = async (liveId: number): Promise<ReadonlyArray<Omit<StoredEvent, 'position'>>> => {
    const sealed = orThrow(await sealEvents(keyring, liveStream(liveId))(eventsOf(liveId)))
    const metadata = {
      correlationId: 'bench',
      causationId: 'bench',
      actor: `user:${USER}`,
      recordedAt: '2026-01-01T00:00:00.000000+00:00',
    }
    const stream = liveStream(liveId)
    return sealed.map(({ type, data }, revision) =>
      ({ id: `${liveId}-${revision}`, type, data, metadata, stream, revision, storedAt: 0 }))
  }
  for (let first = 1; first <= count; first += STEP) {
    const ids = Array.from({ length: Math.min(STEP, count - first + 1) }, (_, n) => first + n)
    const events = (await Promise.all(ids.map(storedOf))).flat().map((event): StoredEvent => {
      position += 1
      return { ...event, position: String(position).padStart(20, '0') as Position }
    })
    for (const projection of [lives, liveCounts]) {
      const changes = orThrow(await changesOf(documents, projection, events))
      const checkpoint = { position: String(position).padStart(20, '0') as Position, last: null }
      orThrow(await documents.commit(modelOf(projection), changes, checkpoint))
    }
  }
  await close()
}

/**
 * Returns the directory of the filled stores. All benchmarks of a run share it; it is deleted at the end of the
 * process.
 */
const seededDirectory = (() => {
  let directory: Promise<string> | null = null
  const make = async (): Promise<string> => {
    const path = mkdtempSync(join(tmpdir(), 'stenolog-bench-'))
    process.once('exit', () => rmSync(path, { recursive: true, force: true }))
    await seed(path, MANY)
    await seed(path, FEW)
    return path
  }
  return (): Promise<string> => (directory ??= make())
})()

const openWorld = async (count: number) => {
  const { documents, keyring, close } = await openStores(await seededDirectory(), count)
  const list = listLives({ documents, keyring })
  return {
    /** Reads full pages, one after the other. */
    pages: (statuses: ReadonlyArray<LiveStatus>, page: PageQuery): Promise<Round> =>
      timed(PAGES, async () => {
        for (let n = 0; n < PAGES; n += 1) {
          const { items, total } = orThrow(await list(USER, statuses, page))
          if (items.length !== page.limit) throw new Error(`a page of ${items.length} of ${total} lives`)
        }
      }),
    close,
  }
}

/**
 * Compares one list with many and with few sessions. `skipOf` returns the start of the page for a number of sessions.
 */
const listCost = (
  name: string,
  pageText: string,
  statuses: ReadonlyArray<LiveStatus>,
  limit: number,
  skipOf: (count: number) => number,
): Benchmark => ({
  name,
  meaning: `${pageText} of one user's ${MANY} sessions from the embedded stores, decrypted: read models and keyring, `
    + `without HTTP`,
  peer: `the same page of ${FEW} sessions`,
  unit: 'pages',
  basis: 'cpu',
  // With many sessions a page may cost at most 1.5 times as much as with few.
  atLeast: 0.67,
  rounds: 9,
  warmUp: true,
  prepare: async () => {
    const [many, few] = [await openWorld(MANY), await openWorld(FEW)]
    return {
      ours: () => many.pages(statuses, { skip: skipOf(MANY), limit }),
      peers: () => few.pages(statuses, { skip: skipOf(FEW), limit }),
      close: async () => {
        await Promise.all([many.close(), few.close()])
      },
    }
  },
})

export const listCosts: ReadonlyArray<Benchmark> = [
  listCost('list-cost', 'the first page of 100', [], 100, () => 0),
  listCost('list-cost-status', 'the first page of 50 in one state', ['finished'], 50, () => 0),
  listCost('list-cost-states', 'the first page of 100 in two states', ['finished', 'error'], 100, () => 0),
  listCost('list-cost-last', 'the last page of 100', [], 100, (count) => count - 100),
]
