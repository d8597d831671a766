import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { caughtUp, newEvent, newEvents, right, take } from '../../contract/event-store-support.ts'
import { logIn } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launchPreloaded } from '../../support/service/launch-preloaded.ts'
import { ADMIN } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Preloaded in every thread of the service: logs the file, the journal mode and the sync mode of each commit. */
const LOG_COMMITS = `
  import { DatabaseSync } from 'node:sqlite'
  import { writeSync } from 'node:fs'
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === 'COMMIT') {
      const { synchronous } = this.prepare('PRAGMA synchronous').get()
      const { journal_mode } = this.prepare('PRAGMA journal_mode').get()
      writeSync(2, 'committed ' + this.location() + ' ' + journal_mode + ' ' + synchronous + '\\n')
    }
    return exec.call(this, sql)
  }`

/** Sync modes, https://www.sqlite.org/pragma.html#pragma_synchronous */
const [NORMAL, FULL] = ['1', '2']

test('acknowledged events are synced to the disk, read models are not, and a stop leaves no extra files', async (t) => {
  const { service, dataDirectory } = await launchPreloaded(t, LOG_COMMITS)
  const client = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  await client.createLive()
  const committed = (): ReadonlySet<string> =>
    new Set(
      [...service.stderr().matchAll(/^committed (\S+) (\S+ \d)$/gm)].map(
        ([, file = '', modes]) => `${basename(file)} ${modes}`,
      ),
    )
  const expected = [`documents.sqlite wal ${NORMAL}`, `events.sqlite wal ${FULL}`, `keyring.sqlite wal ${FULL}`]
  await eventually(() => assert.deepEqual([...committed()].toSorted(), expected))
  t.true((await readdir(dataDirectory)).some((name) => name.endsWith('-wal')))
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
  t.deepEqual((await readdir(dataDirectory)).filter((name) => /-(wal|shm|journal)$/.test(name)), [])
})

test('a write-ahead file that had to grow is truncated', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const file = join(directory.path, 'events.sqlite')
  const store = await openSqliteEventStore({ file })
  t.teardown(() => store.close())
  const size = async (): Promise<number> => (await stat(`${file}-wal`)).size
  const text = 'x'.repeat(500_000)
  const write = async (): Promise<void> =>
    void (await right(store.append('a', 'any', [{ ...newEvent(), data: { text } }])))
  await write()
  // An open reader keeps all later writes in the write-ahead file.
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM events')
  for (let n = 0; n < 50; n++) await write()
  t.true((await size()) > 24_000_000, `${await size()} bytes`)
  reader.close()
  await eventually(async () => {
    await write()
    const bytes = await size()
    assert.ok(bytes <= 17_000_000, `${bytes} bytes`)
  })
})

test('a log that another thread has read leaves only the database file when it is closed', async (t) => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const store = await openSqliteEventStore({ file: join(directory.path, 'events.sqlite') })
  await right(store.append('a', 'no-stream', newEvents(12_000)))
  await take(store.subscribe(BEGINNING, ['a'], new AbortController().signal), caughtUp)
  const waiting = store.append('a', 'any', [newEvent()])
  await store.close()
  t.deepEqual(await readdir(directory.path), ['events.sqlite'])
  t.is((await right(waiting)).revision, 12_000, 'an append before the stop completes')
})
