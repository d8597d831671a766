import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { readCoverage, verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { newEvent, newEvents, right } from '../event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const withLog = (
  title: string,
  body: (t: ExecutionContext, store: EventStore, file: string) => Promise<void>,
): void => {
  test(title, async (t) => {
    const { path, remove } = await temporaryDirectory()
    const file = join(path, 'log.db')
    const store = await openSqliteEventStore({ file })
    t.teardown(async () => {
      await store.close()
      await remove()
    })
    await body(t, store, file)
  })
}

/** Changes a stored log without the store. */
const tamper = (file: string, sql: string): void => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.exec(sql)
  database.close()
}

const fill = async (store: EventStore): Promise<void> => {
  for (const stream of ['a', 'b', 'c']) await right(store.append(stream, 'no-stream', newEvents(4)))
}

const STREAM_DAMAGES: ReadonlyArray<readonly [part: string, sql: string]> = [
  ['first revision', `UPDATE streams SET first = last + 1 WHERE name = 'b'`],
  ['beginning after a deletion', `UPDATE streams SET base = 2 WHERE name = 'b'`],
  ['limit of events', `UPDATE streams SET max_count = 1 WHERE name = 'b'`],
  ['limit of age', `UPDATE streams SET max_age_ms = 1 WHERE name = 'b'`],
  ['oldest time', `UPDATE streams SET oldest_at = 1 WHERE name = 'b'`],
  ['purged revision', `UPDATE streams SET purged = 4 WHERE name = 'b'`],
  ['digest', `UPDATE streams SET digest = x'' WHERE name = 'b'`],
  ['name', `UPDATE streams SET name = 'bb' WHERE name = 'b'`],
  ['last revision', `UPDATE streams SET last = 2 WHERE name = 'b'`],
]

for (const [part, sql] of STREAM_DAMAGES)
  withLog(`a changed ${part} of a stream is named by the check`, async (t, store, file) => {
    await fill(store)
    t.deepEqual(await verifyChain(file), E.right(12))
    tamper(file, sql)
    const verified = await verifyChain(file)
    t.regex(E.isLeft(verified) ? verified.left.reason : '', /\bbb? (are|is|does)|of bb? /)
  })

withLog('regular changes of streams are no damage for the check', async (t, store, file) => {
  await right(store.setMetadata('unwritten', { maxCount: 3 }))
  for (const limits of [{ maxCount: 2 }, { maxAgeSeconds: 1 }, { maxCount: 3, maxAgeSeconds: 1000 }, {}]) {
    const stream = JSON.stringify(limits)
    for (let n = 0; n < 5; n++) await right(store.append(stream, 'any', [newEvent(n)]))
    await right(store.setMetadata(stream, limits))
    for (let n = 5; n < 10; n++) await right(store.append(stream, 'any', [newEvent(n)]))
    t.true(E.isRight(await verifyChain(file)), stream)
    await right(store.deleteStream(stream))
    await right(store.append(stream, 'any', [newEvent(10)]))
    t.true(E.isRight(await verifyChain(file)), `${stream}, deleted and written again`)
  }
  const database = new DatabaseSync(file, { readOnly: true })
  await eventually(() => {
    if (database.prepare('SELECT 1 FROM streams WHERE purged < first').get() !== undefined)
      throw new Error('not all rows are purged')
  })
  database.close()
  t.deepEqual(await verifyChain(file), E.right(44))
})

withLog(
  'a log without stream digests gets them at its next start, and the check reports that position',
  async (t, store, file) => {
    await fill(store)
    await right(store.setMetadata('a', { maxCount: 1 }))
    await right(store.deleteStream('b'))
    await store.close()
    // The format of version 0.1.0.
    tamper(file, 'ALTER TABLE streams DROP COLUMN digest; DROP TABLE coverage; PRAGMA user_version = 1')
    t.is(readCoverage(file), null)
    t.deepEqual(await verifyChain(file), E.right(12))
    const again = await openSqliteEventStore({ file })
    t.teardown(() => again.close())
    t.is(readCoverage(file), 12)
    await right(again.append('c', 'any', [newEvent(20)]))
    await right(again.append('d', 'any', [newEvent(21)]))
    t.deepEqual(await verifyChain(file), E.right(14))
    t.deepEqual((await right(again.read('a'))).map(({ revision }) => revision), [3])
    tamper(file, `UPDATE streams SET first = last + 1 WHERE name = 'c'`)
    t.like(await verifyChain(file), {
      left: { reason: 'the row of the stream c is damaged: reads may return wrong events' },
    })
    t.is(readCoverage(file), 12)
  },
)

withLog('the mark of the digests is written once, and a moved or missing mark is reported', async (t, store, file) => {
  await fill(store)
  await store.close()
  const again = await openSqliteEventStore({ file })
  t.teardown(() => again.close())
  const database = new DatabaseSync(file)
  t.teardown(() => database.close())
  t.deepEqual(database.prepare('SELECT since FROM coverage').all().map(({ since }) => since), [0])
  t.deepEqual(await verifyChain(file), E.right(12))
  tamper(file, 'UPDATE coverage SET since = 3')
  t.like(await verifyChain(file), { left: { reason: 'stream digests cannot begin at position 3' } })
  tamper(file, 'DELETE FROM coverage')
  const reason = 'the mark of the position at which stream digests begin is missing'
  t.like(await verifyChain(file), { left: { reason } })
})

withLog('the digests of a log that always had them include its first row', async (t, store, file) => {
  await fill(store)
  await store.close()
  const again = await openSqliteEventStore({ file })
  await again.close()
  t.is(readCoverage(file), 0)
})
