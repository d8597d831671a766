import { readFileSync, rmSync, truncateSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { newEvent, newEvents, right } from '../../contract/event-store-support.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { WAL_HEADER, walFrames } from '../../support/events/sqlite-wal.ts'

const APPENDS = 40
/** Number of events in each append. A log whose length is not a multiple of it contains a part of an append. */
const BATCH = 3
/** Number of transactions at the end of the file that are cut at every byte. */
const TRANSACTIONS = 3

/** Returns the event ids in a file and its write-ahead file, or null without a table of events. Changes no file. */
const idsIn = (file: string): ReadonlyArray<string> | null => {
  rmSync(`${file}-shm`, { force: true })
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'events'").get() !== undefined
    return hasTable ? database.prepare('SELECT id FROM events ORDER BY pos').all().map(({ id }) => String(id)) : null
  } finally {
    database.close()
  }
}

test('a write-ahead file cut at any byte holds exactly the commits before the cut', async (t) => {
  t.timeout(60 * 60_000)
  const random = chanceOf(t).random('cuts')
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [written, copied, cutFile] = ['written.db', 'copied.db', 'cut.db'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  const store = await openSqliteEventStore({ file: written })
  const acknowledged: Array<string> = []
  for (let n = 0; n < APPENDS; n += 1) {
    const events = newEvents(BATCH, n * BATCH)
    await right(store.append(`live-${n % 4}`, 'any', events))
    acknowledged.push(...events.map(({ id }) => id))
  }
  // The files are copied before the close, in the state in which a kill would leave them.
  for (const suffix of ['', '-wal']) await cp(`${written}${suffix}`, `${copied}${suffix}`)
  await store.close()
  const wal = readFileSync(`${copied}-wal`)
  const commitEnds = walFrames(wal).flatMap(({ end, commits }) => (commits ? [end] : []))
  t.true(commitEnds.length >= APPENDS)

  // The cuts go from the end to the start, because a cut can only shorten the file.
  let cuts = 0
  const countAfterCut = (bytes: number): number => {
    truncateSync(`${copied}-wal`, bytes)
    const ids = idsIn(copied)
    cuts += 1
    if (ids === null) return 0
    if (ids.some((id, n) => id !== acknowledged[n]))
      t.fail(`cut at ${bytes}: the events differ from the acknowledged ones`)
    if (ids.length % BATCH !== 0) t.fail(`cut at ${bytes}: ${ids.length} events, a torn append`)
    return ids.length
  }
  /** Returns the number of events whose commits end within these first bytes of the write-ahead file. */
  const expectedAt = (bytes: number): number => {
    const missing = commitEnds.filter((end) => end > bytes).length
    return Math.max(0, acknowledged.length - missing * BATCH)
  }
  t.is(countAfterCut(wal.length), acknowledged.length)
  const from = commitEnds.at(-1 - TRANSACTIONS) ?? 0
  for (let bytes = wal.length - 1; bytes >= from; bytes -= 1)
    if (countAfterCut(bytes) !== expectedAt(bytes)) t.fail(`cut at ${bytes} of ${wal.length}`)
  const rest = [
    ...Array.from({ length: 2000 }, () => Math.floor(random() * from)),
    ...commitEnds.flatMap((end) => [end - 1, end, end + 1]),
  ]
  for (const bytes of rest.filter((at) => at < from).toSorted((a, b) => b - a))
    if (countAfterCut(bytes) !== expectedAt(bytes)) t.fail(`cut at ${bytes} of ${wal.length}`)
  t.log(`${cuts} cuts of ${wal.length} bytes, every byte from ${from} on`)

  // After some of the cuts the store opens the log, reads it, verifies it and appends to it.
  const boundaries = commitEnds.slice(-TRANSACTIONS).flatMap((end) => [end - 1, end, end + 1])
  const lengths = [
    0,
    1,
    WAL_HEADER,
    ...boundaries,
    ...Array.from({ length: 30 }, () => Math.floor(random() * wal.length)),
  ]
  for (const bytes of lengths) {
    await cp(copied, cutFile)
    rmSync(`${cutFile}-shm`, { force: true })
    await writeFile(`${cutFile}-wal`, wal.subarray(0, bytes))
    const cutStore = await openSqliteEventStore({ file: cutFile })
    const rows = expectedAt(Math.min(bytes, wal.length))
    const read = (await Promise.all([0, 1, 2, 3].map((n) => right(cutStore.read(`live-${n}`))))).flat()
    t.is(read.length, rows, `cut at ${bytes}`)
    t.deepEqual(await verifyChain(cutFile), E.right(rows))
    await right(cutStore.append('live-0', 'any', [newEvent()]))
    t.deepEqual(await verifyChain(cutFile), E.right(rows + 1))
    await cutStore.close()
  }
})
