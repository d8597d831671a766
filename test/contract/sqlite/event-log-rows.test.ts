import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { copyDatabase, eraseKeys } from '../../../infrastructure/sqlite/copy-database.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { readKeyNames } from '../../../infrastructure/sqlite/keyring/key-names.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { newEvent, newEvents, right } from '../event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { sealText } from '../../support/events/sealed-texts.ts'

/** Runs a query on a SQLite file without the store. */
const query = (file: string, sql: string): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

const startLog = async (t: ExecutionContext) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'log.db')
  const open = async () => {
    const store = await openSqliteEventStore({ file })
    t.teardown(store.close)
    return store
  }
  return { path, file, store: await open(), open }
}

test('the times of rows never decrease, even when the clock goes back', async (t) => {
  const { file, store, open } = await startLog(t)
  await right(store.append('a', 'no-stream', newEvents(2)))
  await store.close()
  const ahead = Date.now() + 3_600_000
  query(file, `UPDATE events SET at = ${ahead} WHERE pos = 2 RETURNING pos`)
  const again = await open()
  await right(again.append('a', 1, [newEvent(2)]))
  const at = Number(query(file, 'SELECT at FROM events WHERE pos = 3')[0]?.['at'])
  t.true(ahead <= at && at < ahead + 60_000, `the clock of the log goes on from there: ${at - ahead} ms`)
})

test('the oldest event decides when a stream with $maxAge is purged', async (t) => {
  const { file, store } = await startLog(t)
  await right(store.setMetadata('a', { maxAgeSeconds: 3600 }))
  await right(store.append('a', 'no-stream', [newEvent()]))
  await eventually(async () => {
    await right(store.append('a', 'any', [newEvent()]))
    const [times] = query(file, 'SELECT min(at) AS oldest, max(at) AS newest FROM events')
    if (times?.['oldest'] === times?.['newest']) throw new Error('all events have the same millisecond')
  })
  const [stream] = query(file, 'SELECT oldest_at AS due, (SELECT min(at) FROM events) AS oldest FROM streams')
  t.is(stream?.['due'], stream?.['oldest'])
})

test('the check names events that were moved to another stream', async (t) => {
  const { file, store } = await startLog(t)
  await right(store.append('live-1', 'no-stream', newEvents(2)))
  await right(store.append('live-2', 'no-stream', newEvents(2)))
  t.deepEqual(await verifyChain(file), E.right(4))
  query(file, "UPDATE streams SET name = 'live-3' WHERE name = 'live-2' RETURNING sid")
  t.like(await verifyChain(file), { left: { position: '00000000000000000003' } })
})

test('a copy of a database is private to its owner and contains nothing deleted', async (t) => {
  const { path, file, store } = await startLog(t)
  const secret = 'a sentence that is to be forgotten'
  await right(store.append('text', 'no-stream', [{ ...newEvent(), data: { secret } }]))
  await right(store.deleteStream('text'))
  await eventually(() => {
    if (query(file, 'SELECT 1 FROM events WHERE data IS NOT NULL').length > 0) throw new Error('not yet purged')
  })
  const target = join(path, 'copy.db')
  await copyDatabase(file, target)
  t.is((await stat(target)).mode & 0o777, 0o600)
  t.deepEqual(await verifyChain(target), E.right(1))
  await t.throwsAsync(copyDatabase(file, target), undefined, 'an existing file is not overwritten')
})

/** Notes in `seen` every permission that a file ever has. */
const WATCH_MODES = `
  const { statSync } = require('node:fs')
  const { file, seen } = require('node:worker_threads').workerData
  for (;;) Atomics.or(seen, 0, statSync(file, { throwIfNoEntry: false })?.mode ?? 0)
`

test('other users cannot read the copy of a database while it is written', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [file, target] = [join(path, 'large.db'), join(path, 'copy.db')]
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE texts(text); INSERT INTO texts VALUES (randomblob(30000000))')
  database.close()
  const seen = new Int32Array(new SharedArrayBuffer(4))
  const watcher = new Worker(WATCH_MODES, { eval: true, workerData: { file: target, seen } })
  t.teardown(() => watcher.terminate())
  await once(watcher, 'online')
  await copyDatabase(file, target)
  await eventually(() => {
    if (seen[0] === 0) throw new Error('the copy was not seen')
  })
  t.is((seen[0] ?? 0) & 0o777, 0o600)
})

test('keys erased from a closed keyring are permanently gone and reported as erased', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [file, masterKey] = [join(path, 'keyring.db'), Buffer.alloc(32, 7)]
  const keyring = await openSqliteKeyring({ file, masterKey })
  t.teardown(keyring.close)
  for (const name of ['user-1', 'user-2']) await sealText(keyring, name)
  await keyring.close()
  t.is(eraseKeys(file, ['user-1', 'user-3']), 1, 'one of the two keys existed')
  t.deepEqual(readKeyNames(file).erased, ['user-1', 'user-3'])
  const again = await openSqliteKeyring({ file, masterKey })
  t.teardown(again.close)
  for (const name of ['user-1', 'user-3'])
    t.deepEqual(await sealText(again, name), E.left({ _tag: 'KeyErased', key: name }))
  t.true(E.isRight(await sealText(again, 'user-2')))
})
