import { join } from 'node:path'
import test from 'ava'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { newEvents, right } from '../event-store-support.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

test('reading many streams in a row lets other work run in between', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const store = await openSqliteEventStore({ file: join(path, 'log.db') })
  t.teardown(store.close)
  await right(store.append('a', 'no-stream', newEvents(1)))
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  for (let read = 0; read < 100; read += 1) await right(store.read('a'))
  clearImmediate(next)
  t.true(turns >= 99, `${turns} turns`)
})
