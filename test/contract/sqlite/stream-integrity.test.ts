import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyStream } from '../../../infrastructure/sqlite/event-log/verify-stream.ts'
import { newEvents, right } from '../event-store-support.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Writes three streams of four rows each; `b` has the rows 5 to 8. Then runs `sql` on the file without the store. */
const integrityOf = async (stream: string, sql: string) => {
  const { path, remove } = await temporaryDirectory()
  const file = join(path, 'log.db')
  const store = await openSqliteEventStore({ file })
  try {
    for (const name of ['a', 'b', 'c']) await right(store.append(name, 'no-stream', newEvents(4)))
    const database = new DatabaseSync(file, { timeout: 5000 })
    database.exec(sql)
    database.close()
    return await right(verifyStream(file)(stream))
  } finally {
    await store.close()
    await remove()
  }
}

const CONTENT = 'its content does not match its hash'

test('an unchanged stream is intact and names its position in the log', async (t) => {
  const whole = await integrityOf('b', '')
  t.like(whole, { rows: 4, first: 5, last: 8, damages: [] })
  t.regex(whole?.headHash ?? '', /^[0-9a-f]{64}$/)
  t.like(await integrityOf('a', ''), { rows: 4, first: 1, last: 4, damages: [] })
  t.deepEqual(await integrityOf('d', ''), { rows: 0, first: null, last: null, headHash: null, damages: [] })
})

const DAMAGES: ReadonlyArray<
  readonly [damage: string, sql: string, damages: ReadonlyArray<readonly [number | null, string]>]
> = [
  ['changed content', "UPDATE events SET data = replace(data, '1', '7') WHERE pos = 6", [[1, CONTENT]]],
  [
    'a missing row',
    'DELETE FROM events WHERE pos = 6',
    [[1, 'it is missing'], [2, 'it does not follow the previous row']],
  ],
  ['a missing last row', 'DELETE FROM events WHERE pos = 8', [[3, 'it is missing']]],
  [
    'a changed row of the next stream',
    'UPDATE events SET prev = zeroblob(32) WHERE pos = 9',
    [[3, 'the next row does not follow it']],
  ],
  [
    'a changed entry in the stream table',
    "UPDATE streams SET max_count = 1 WHERE name = 'b'",
    [[null, 'the row of the stream is damaged: reads may return wrong events']],
  ],
]

for (const [damage, sql, damages] of DAMAGES)
  test(`${damage} is found in its place`, async (t) => {
    const found = await integrityOf('b', sql)
    t.deepEqual(found?.damages.map(({ revision, reason }) => [revision, reason]), damages)
  })

test('changes in other streams do not damage a stream', async (t) => {
  t.deepEqual((await integrityOf('b', "UPDATE events SET data = replace(data, '1', '7') WHERE pos = 2"))?.damages, [])
})
