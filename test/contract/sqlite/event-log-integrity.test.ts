import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING, type EventStore, type Position } from '../../../application/ports/event-store.ts'
import {
  EVENT_COLUMNS,
  contentDigests,
  rowHash,
  type EventRow,
} from '../../../infrastructure/sqlite/event-log/event-row.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyChain, walkChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { caughtUp, delivered, newEvent, newEvents, right, take } from '../event-store-support.ts'
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
    try {
      await body(t, store, file)
    } finally {
      await store.close()
      await remove()
    }
  })
}

/** Changes a stored log without the store. */
const tamper = (file: string, sql: string): void => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  database.exec(sql)
  database.close()
}

const neverAborted = new AbortController().signal

const fill = async (store: EventStore): Promise<void> => {
  for (const stream of ['a', 'b', 'c']) await right(store.append(stream, 'no-stream', newEvents(4)))
}

const DAMAGES: ReadonlyArray<readonly [part: string, sql: string]> = [
  ['data', `UPDATE events SET data = replace(data, '1', '7') WHERE pos = 6`],
  ['metadata', `UPDATE events SET metadata = replace(metadata, 'service', 'user:77') WHERE pos = 6`],
  ['type', `UPDATE events SET type = 'Countee' WHERE pos = 6`],
  ['id', `UPDATE events SET id = replace(id, '-7', '-8') WHERE pos = 6`],
  ['time', `UPDATE events SET at = at + 1 WHERE pos = 6`],
  ['hash', `UPDATE events SET hash = zeroblob(32) WHERE pos = 6`],
  ['previous hash', `UPDATE events SET prev = zeroblob(32) WHERE pos = 6`],
  ['content', `UPDATE events SET data = NULL, metadata = NULL WHERE pos = 6`],
]

for (const [part, sql] of DAMAGES) {
  withLog(
    `a changed ${part} of an event is refused by reads and named by the check; other streams work`,
    async (t, store, file) => {
      await fill(store)
      t.deepEqual(await verifyChain(file), E.right(12))
      tamper(file, sql)
      const read = await store.read('b')
      t.true(E.isLeft(read) && read.left._tag === 'LogCorrupted')
      t.is((await right(store.read('a'))).length, 4)
      t.is((await right(store.read('c'))).length, 4)
      const error = await t.throwsAsync(take(store.subscribe(BEGINNING, ['b'], neverAborted), caughtUp))
      t.like(error?.cause, { _tag: 'LogCorrupted' })
      t.deepEqual(
        delivered(await take(store.subscribe(BEGINNING, ['a', 'c'], neverAborted), caughtUp)),
        [0, 1, 2, 3, 0, 1, 2, 3],
      )
      const verified = await verifyChain(file)
      t.is(E.isLeft(verified) ? verified.left.position : undefined, '00000000000000000006' as Position)
    },
  )
}

withLog('a row removed from a stream is refused by reads and named by the check', async (t, store, file) => {
  await fill(store)
  tamper(file, 'DELETE FROM events WHERE pos = 6')
  t.like(await store.read('b'), { left: { _tag: 'LogCorrupted' } })
  t.like(await verifyChain(file), { left: { position: '00000000000000000006' } })
})

withLog('a row forged together with its hash is found through the next row', async (t, store, file) => {
  await fill(store)
  const database = new DatabaseSync(file, { timeout: 5000 })
  const row = database
    .prepare(`SELECT ${EVENT_COLUMNS} FROM events e JOIN streams s USING (sid) WHERE e.pos = 6`)
    .get() as unknown as EventRow
  const data = '{"n":1000}'
  database
    .prepare('UPDATE events SET data = ?, hash = ? WHERE pos = 6')
    .run(data, rowHash(row, contentDigests(data, row.metadata ?? '')))
  database.close()
  t.like(await verifyChain(file), { left: { position: '00000000000000000007' } })
})

withLog('the check continues after a damaged row and names every damaged place', async (t, store, file) => {
  await fill(store)
  tamper(file, `UPDATE events SET type = 'Other' WHERE pos IN (3, 8)`)
  tamper(file, 'DELETE FROM events WHERE pos = 6')
  const places: Array<number> = []
  for await (const { position } of walkChain(file)) places.push(Number(position))
  t.deepEqual(places, [3, 6, 8, 13], 'the last position stands for an incomplete stream')
})

withLog('the check names rows that were cut off the end', async (t, store, file) => {
  await fill(store)
  tamper(file, 'DELETE FROM events WHERE pos > 10')
  t.like(await verifyChain(file), { left: { position: '00000000000000000011' } })
})

withLog('an empty log and a log during writes pass the check', async (t, store, file) => {
  t.deepEqual(await verifyChain(file), E.right(0))
  const appends = newEvents(3000).map((event) => store.append('a', 'any', [event]))
  let verified = await verifyChain(file)
  while (E.isRight(verified) && verified.right < 3000) verified = await verifyChain(file)
  t.deepEqual(verified, E.right(3000))
  await Promise.all(appends)
})

withLog('purged rows lose their content and keep their place in the chain', async (t, store, file) => {
  await right(store.setMetadata('counter', { maxCount: 1 }))
  for (const event of newEvents(300)) await right(store.append('counter', 'any', [event]))
  await right(store.append('text', 'no-stream', newEvents(300)))
  await right(store.deleteStream('text'))
  const database = new DatabaseSync(file, { readOnly: true })
  await eventually(() => {
    const row = database
      .prepare('SELECT count(*) AS left FROM events WHERE data IS NOT NULL OR metadata IS NOT NULL')
      .get()
    if (row?.['left'] !== 1) throw new Error(`${String(row?.['left'])} rows still hold their content`)
  })
  database.close()
  t.deepEqual(await verifyChain(file), E.right(600))
  t.is((await right(store.read('counter'))).length, 1)
  const retried = newEvent()
  await right(store.append('counter', 299, [retried]))
  await right(store.append('counter', 300, [newEvent()]))
  t.is(
    (await right(store.append('counter', 299, [retried]))).revision,
    300,
    'a retry of a truncated event is still recognised',
  )
})

withLog('expired rows are purged after a restart too', async (t, store, file) => {
  await right(store.setMetadata('idem', { maxAgeSeconds: 1 }))
  await right(store.append('idem', 'no-stream', newEvents(2)))
  await store.close()
  await eventually(async () => {
    const again = await openSqliteEventStore({ file })
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      await eventually(() => {
        if (database.prepare('SELECT 1 FROM events WHERE data IS NOT NULL').get() !== undefined)
          throw new Error('not yet purged')
      }, { timeoutMs: 1500 })
    } finally {
      database.close()
      await again.close()
    }
  })
  t.deepEqual(await verifyChain(file), E.right(2))
})

withLog(
  'the number of written rows and the stream table reveal rows that were cut off the end',
  async (t, store, file) => {
    await fill(store)
    tamper(file, `DELETE FROM events WHERE pos > 10; UPDATE streams SET last = 1 WHERE name = 'c'`)
    t.like(await verifyChain(file), {
      left: { position: '00000000000000000011', reason: '12 rows were written, but the last row is 10' },
    })
    tamper(
      file,
      `UPDATE sqlite_sequence SET seq = 10 WHERE name = 'events'; UPDATE streams SET last = 3 WHERE name = 'c'`,
    )
    t.like(await verifyChain(file), {
      left: { position: '00000000000000000011', reason: 'revisions of c are missing' },
    })
  },
)
