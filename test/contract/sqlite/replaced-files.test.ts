import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { firstHash, readReplacedLog } from '../../../infrastructure/sqlite/event-log/replaced-log.ts'
import { readKeyNames } from '../../../infrastructure/sqlite/keyring/key-names.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { newEvents, right } from '../event-store-support.ts'
import { sealText } from '../../support/events/sealed-texts.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const change = (file: string, sql: string): void => {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** A log of six events in two streams. A newer version has written it. */
const newerLog = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'events.sqlite')
  const store = await openSqliteEventStore({ file })
  await right(store.append('a', 'no-stream', newEvents(3)))
  await right(store.append('b', 'no-stream', newEvents(3)))
  await store.close()
  change(file, `PRAGMA user_version = ${FORMAT + 1}`)
  return file
}

const seenIn = async (file: string): Promise<ReadonlyArray<string>> => {
  const seen: Array<string> = []
  for await (const event of readReplacedLog(file))
    seen.push(typeof event === 'string' ? event : `${event.stream}${event.revision}`)
  return seen
}

test('a restore reads a log of a newer version from its first to its last event', async (t) => {
  const file = await newerLog(t)
  t.deepEqual(await seenIn(file), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2'])
  t.regex(String(firstHash(file)), /^[0-9A-F]{64}$/)
  t.not(firstHash(file), firstHash(await newerLog(t)))
})

test('a restore names the rows of a log that are damaged or missing, and skips rows that were dropped', async (t) => {
  const file = await newerLog(t)
  change(file, 'UPDATE events SET rev = 9 WHERE pos = 2; DELETE FROM events WHERE pos IN (4, 6)')
  t.deepEqual(await seenIn(file), [
    'a0', 'position 2 (a) is damaged', 'a2', 'rows are missing after position 3', 'b1',
    'rows are missing after position 5',
  ])
  const dropped = await newerLog(t)
  change(dropped, `PRAGMA user_version = ${FORMAT}`)
  const store = await openSqliteEventStore({ file: dropped })
  await right(store.setMetadata('a', { maxCount: 1 }))
  await right(store.append('a', 2, newEvents(1)))
  await store.close()
  const kept = (await seenIn(dropped)).filter((event) => event.startsWith('position') || event.startsWith('rows'))
  t.deepEqual(kept, [])
})

test('a restore reads which keys a keyring of a newer version has and had, and whose copy it is', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [file, other] = [join(path, 'keyring.sqlite'), join(path, 'other.sqlite')]
  const masterKey = Buffer.alloc(32, 7)
  for (const name of [file, other]) {
    const keyring = await openSqliteKeyring({ file: name, masterKey })
    await sealText(keyring, 'user-1')
    await sealText(keyring, 'text-2')
    await right(keyring.erase(['text-2', 'live-2']))
    await keyring.close()
    change(name, `PRAGMA user_version = ${FORMAT + 1}`)
  }
  const { erased, kept, identity } = readKeyNames(file)
  t.deepEqual([erased, kept], [['live-2', 'text-2'], ['keyring-probe', 'user-1']])
  t.not(identity, readKeyNames(other).identity)
  change(other, 'DROP TABLE erased')
  t.throws(() => readKeyNames(other), { message: /erased/ })
})
