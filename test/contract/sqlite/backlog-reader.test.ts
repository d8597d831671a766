import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { newEvents, right } from '../event-store-support.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** More events than a reader reads on its own thread. */
const EVENTS = 6000

test('a process without other work waits for the end of a long log', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'log.db')
  const store = await openSqliteEventStore({ file })
  for (let n = 0; n < EVENTS; n += 500) await right(store.append(`a-${n}`, 'no-stream', newEvents(500)))
  await store.close()
  const counter = join(import.meta.dirname, 'log-counter.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [counter, file])
  t.is(Number(stdout), EVENTS)
})
