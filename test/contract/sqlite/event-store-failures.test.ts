import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Position } from '../../../application/ports/event-store.ts'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { openSqliteDocuments } from '../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventReader } from '../../../infrastructure/sqlite/event-log/event-reader.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { newEvent, newEvents, right } from '../event-store-support.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { checkpointAt, duty } from '../../support/read-models/checkpoints.ts'

const lockFile = (t: ExecutionContext, file: string): { readonly release: () => void } => {
  const other = new DatabaseSync(file)
  t.teardown(() => { if (other.isOpen) other.close() })
  other.exec('BEGIN IMMEDIATE')
  return { release: () => other.close() }
}

test('an append that cannot be written fails as unavailable; reads and later appends work', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'log.db')
  const store = await openSqliteEventStore({ file })
  t.teardown(store.close)
  await right(store.append('a', 'no-stream', newEvents(2)))
  const lock = lockFile(t, file)
  const event = newEvent(2)
  const outcomes: string[] = []
  const refused = store.append('a', 1, [event]).finally(() => outcomes.push('append'))
  t.is((await right(store.read('a'))).length, 2)
  await setImmediate()
  outcomes.push('read')
  t.deepEqual(outcomes, ['read'], 'the writer waits in a separate thread')
  t.like(await refused, { left: { _tag: 'StoreUnavailable' } })
  lock.release()
  t.is((await right(store.append('a', 1, [event]))).revision, 2)
  t.deepEqual(await verifyChain(file), E.right(3))
})

test('read models that cannot be written are unavailable, and recover later', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'documents.db')
  const documents = await openSqliteDocuments({ file })
  t.teardown(documents.close)
  await right(documents.ensure([{ name: 'lives', indexes: [] }]))
  const lock = lockFile(t, file)
  const position = '00000000000000000001' as Position
  t.like(await documents.commit(duty('p'), [], checkpointAt(position)), { left: { _tag: 'DocumentsUnavailable' } })
  lock.release()
  await right(documents.commit(duty('p'), [], checkpointAt(position)))
  t.is((await right(documents.checkpoint(duty('p')))).position, position)
})

test('an impossible commit fails without affecting the other commits of its batch', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const documents = await openSqliteDocuments({ file: join(path, 'documents.db') })
  t.teardown(documents.close)
  await right(documents.ensure([{ name: 'lives', indexes: [] }]))
  const commit = (n: number): Promise<unknown> => {
    const position = String(n).padStart(20, '0') as Position
    const collection = n % 10 === 5 ? 'neverEnsured' : 'lives'
    return documents.commit(
      duty('p'),
      [{ kind: 'put', collection, id: String(n), document: { n }, position }],
      checkpointAt(position),
    )
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => commit(n)))
  t.deepEqual(
    outcomes.map(({ status }) => status),
    Array.from({ length: 100 }, (_, n) => (n % 10 === 5 ? 'rejected' : 'fulfilled')),
  )
  t.true(
    outcomes.every(
      (outcome) => outcome.status === 'rejected' || E.isRight(outcome.value as E.Either<unknown, unknown>),
    ),
  )
  const page = () =>
    documents.page('lives', { filter: {}, sort: { by: 'n', direction: 'ascending' }, skip: 0, limit: 1000 })
  t.is((await right(page())).length, 90)
})

/** Linux only: changes a limit of another process. */
const PRLIMIT = '/usr/bin/prlimit'

/** Lets a process write files of any size. Kills the process when that fails, so its test fails too. */
const liftLimit = (child: ChildProcess): void => {
  const lifting = spawn(PRLIMIT, ['--pid', String(child.pid), '--fsize=unlimited'], { stdio: 'inherit' })
  lifting.once('exit', (code) => code !== 0 && child.kill('SIGKILL'))
}

testWith(PRLIMIT)('a full disk makes appends unavailable until there is space again', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'log.db')
  await openSqliteEventStore({ file }).then((store) => store.close())
  const script = fileURLToPath(new URL('./event-appender.ts', import.meta.url))
  const child = spawn('sh', ['-c', 'ulimit -S -f 400 && exec "$0" "$@"', process.execPath, script, path, 'full'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const seen = { before: 0, unavailable: 0, after: 0 }
  const acknowledged = new Set<string>()
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'unavailable') {
      seen.unavailable += 1
      if (seen.unavailable === 20) liftLimit(child)
    } else {
      for (const id of line.split(' ')) acknowledged.add(id)
      if (seen.unavailable === 0) seen.before += 1
      else seen.after += 1
    }
    if (seen.unavailable >= 20 && seen.after >= 50) child.kill('SIGKILL')
  }
  t.true(seen.before > 0 && seen.unavailable >= 20 && seen.after >= 50)
  t.true(E.isRight(await verifyChain(file)))
  const database = new DatabaseSync(file, { readOnly: true })
  const ids = new Set(database.prepare('SELECT id FROM events').all().map((row) => row['id']))
  database.close()
  t.deepEqual([...acknowledged].filter((id) => !ids.has(id)), [])
})

test('data of a newer version is refused for reads and writes and stays unchanged', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [log, documents, keyring] = ['log', 'documents', 'keyring'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  const openAll = [
    () => openSqliteEventStore({ file: log }),
    () => openSqliteDocuments({ file: documents }),
    () => openSqliteKeyring({ file: keyring, masterKey: Buffer.alloc(32) }),
  ]
  for (const open of openAll) await open().then((store) => store.close())
  for (const file of [log, documents, keyring]) {
    const database = new DatabaseSync(file)
    database.exec(`PRAGMA user_version = ${FORMAT + 1}`)
    database.close()
  }
  for (const open of openAll) await t.throwsAsync(open, { message: /^\w+ was written by a newer version of Stenolog/ })
  t.throws(() => openSqliteEventReader({ file: log }), { message: /newer version.*: use that version,/ })
  // The application id names the newer version.
  const newer = new DatabaseSync(log)
  newer.exec('PRAGMA application_id = 12003004')
  newer.close()
  t.throws(() => openSqliteEventReader({ file: log }), {
    message: /newer version.*: use version 12\.3\.4 or a later version,/,
  })
})

test('opening an unusable file rejects with the reason', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await t.throwsAsync(openSqliteEventStore({ file: join(path, 'missing', 'log.db') }), { message: /open/ })
})
