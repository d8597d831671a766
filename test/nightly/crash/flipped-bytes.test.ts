import { cp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventReader } from '../../../infrastructure/sqlite/event-log/event-reader.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { logIn, type Listing, type LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { WAL_HEADER, walFrames } from '../../support/events/sqlite-wal.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { passwordOf, startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/**
 * Starts a service, creates three sessions, finishes the first one and kills the service. After the kill the
 * write-ahead file still holds the events.
 */
const killedService = async (t: ExecutionContext) => {
  const service = await startTestService(t)
  const ada = await service.user('ada')
  const first = await ada.createLive()
  await ada.put(`/lives/${first.id}/finish`)
  await ada.createLive()
  await ada.createLive()
  await service.kill()
  return service
}

const copyOf = async (t: ExecutionContext, dataDirectory: string): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await cp(dataDirectory, path, { recursive: true, filter: (file) => !file.endsWith('.sock') })
  return path
}

const withDatabase = <A>(file: string, use: (database: DatabaseSync) => A): A => {
  const database = new DatabaseSync(file, { timeout: 5000 })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const COLUMNS = ['data', 'metadata', 'type', 'id', 'prev', 'hash'] as const

/** Flips the lowest bit of the middle byte of a value. */
const flipped = (value: unknown): string | Uint8Array => {
  const bytes = Uint8Array.from(typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array))
  const at = Math.floor(bytes.length / 2)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return typeof value === 'string' ? Buffer.from(bytes).toString() : bytes
}

interface Row {
  readonly pos: number
  readonly stream: string
  /** 1 when reads return the event, 0 when its stream is truncated after it. */
  readonly isRead: number
}

test('reads refuse a row with a flipped byte, and the check names the row', async (t) => {
  const service = await killedService(t)
  const path = await copyOf(t, service.dataDirectory)
  const file = join(path, 'events.sqlite')
  const rows = withDatabase(file, (database) =>
    database
      .prepare(
        'SELECT pos, name AS stream, rev >= first AS isRead FROM events JOIN streams USING (sid) ' +
          'WHERE data IS NOT NULL ORDER BY pos',
      )
      .all(),
  ) as unknown as ReadonlyArray<Row>
  t.true(rows.length > 20)
  const reader = openSqliteEventReader({ file })
  t.teardown(reader.close)
  for (const { pos, stream, isRead } of rows)
    for (const column of COLUMNS) {
      const set = (value: string | Uint8Array): void =>
        withDatabase(
          file,
          (database) => void database.prepare(`UPDATE events SET ${column} = ? WHERE pos = ?`).run(value, pos),
        )
      const before = withDatabase(file, (database) =>
        database.prepare(`SELECT ${column} AS value FROM events WHERE pos = ?`).get(pos),
      )?.['value'] as string | Uint8Array
      set(flipped(before))
      const verified = await verifyChain(file)
      t.is(E.isLeft(verified) ? Number(verified.left.position) : null, pos, `${column} of position ${pos}`)
      const read = await reader.read(stream)
      t.is(E.isLeft(read), isRead === 1, `${column} of ${stream}`)
      set(before)
    }
  t.true(E.isRight(await verifyChain(file)), 'every byte was restored')

  const { pos } = rows.find(({ stream }) => stream === 'live-2') ?? { pos: 0 }
  withDatabase(file, (database) =>
    database.exec(`UPDATE events SET metadata = replace(metadata, 'user:2', 'user:3') WHERE pos = ${pos}`),
  )
  withDatabase(join(path, 'documents.sqlite'), (database) => {
    database.exec(
      `UPDATE documents_lives SET body = replace(body, '"status":"pending"', '"status":"pendinf"') WHERE id = '3'`,
    )
  })
  const checked = await stenolog(path, ['check', '--json'])
  t.is(checked.code, 1)
  const { checks } = JSON.parse(checked.stdout) as {
    readonly checks: ReadonlyArray<{
      readonly name: string
      readonly problems: ReadonlyArray<{ readonly where: string; readonly problem: string }>
    }>
  }
  const position = String(pos).padStart(20, '0')
  const problemsOf = (check: string) =>
    (checks.find(({ name }) => name === check)?.problems ?? []).map(({ where, problem }) => ({ where, problem }))
  t.deepEqual(problemsOf('hash chain'), [
    { where: `position ${position}`, problem: 'revision 0 of live-2 does not match its hash' },
  ])
  // The check also examines the events after the damaged event.
  t.deepEqual(problemsOf('decoding'), [{ where: `position ${position} (live-2)`, problem: 'is damaged' }])
  t.deepEqual(problemsOf('order'), [
    { where: 'live-2', problem: `is not checked after position ${position}, which cannot be read` },
  ])
  const models = problemsOf('read models')
  t.deepEqual(models.filter(({ where }) => /^lives( [13])?$/.test(where)), [
    { where: 'lives 3', problem: 'does not agree with the log' },
    { where: 'lives', problem: `may be incomplete: position ${position} (live-2) is damaged` },
  ])
})

test('the check names a document or a key with a flipped byte', async (t) => {
  const service = await killedService(t)
  const path = await copyOf(t, service.dataDirectory)
  withDatabase(join(path, 'documents.sqlite'), (database) => {
    database.exec(
      `UPDATE documents_lives SET body = replace(body, '"status":"pending"', '"status":"pendinf"') WHERE id = '2'`,
    )
    database.exec(`UPDATE documents_lives SET position = '1' || substr(position, 2) WHERE id = '3'`)
    database.exec(`UPDATE "documents_live-counts" SET body = replace(body, '{', '[') WHERE id = '2'`)
    database.exec(`UPDATE documents_users SET id = '9' WHERE id = '2'`)
  })
  withDatabase(join(path, 'keyring.sqlite'), (database) => {
    const key = database.prepare("SELECT wrapped FROM keys WHERE name = 'live-3'").get()?.['wrapped']
    database.prepare("UPDATE keys SET wrapped = ? WHERE name = 'live-3'").run(flipped(key))
  })
  const { code, stdout } = await stenolog(path, ['check'])
  t.is(code, 1)
  for (const named of [
    /^ {2}lives 2: does not agree with the log$/m,
    /^ {2}lives 3: has a position that does not match its content$/m,
    /^ {2}lives 3: has the position \d+, after the end of the log$/m,
    /^ {2}live-counts 2: cannot be read$/m,
    /^ {2}users 2: is missing$/m,
    /^ {2}users 9: should not exist$/m,
    /^ {2}key live-3: is damaged, or belongs to another master key$/m,
    /^ {2}key live-3: is missing but was not erased: 1 event is encrypted with it\./m,
  ])
    t.regex(stdout, named)
  t.is(stdout.match(/^ {2}/gm)?.length, 8, stdout)
})

/** Opens and closes the store of a file. Returns the ids of all events in the file, also of truncated streams. */
const idsIn = async (file: string): Promise<ReadonlyArray<string>> => {
  const store = await openSqliteEventStore({ file })
  await store.close()
  return withDatabase(file, (database) => database.prepare('SELECT id FROM events ORDER BY pos').all()).map(({ id }) =>
    String(id),
  )
}

/** Replaces the data with the copy in `kept` and cuts the write-ahead file of the log. */
const restoreAndCut = async (
  { dataDirectory }: { readonly dataDirectory: string },
  kept: string,
  bytes: number,
): Promise<void> => {
  for (const name of await readdir(dataDirectory)) if (name.includes('.sqlite')) await rm(join(dataDirectory, name))
  await cp(kept, dataDirectory, { recursive: true })
  await rm(join(dataDirectory, 'events.sqlite-shm'), { force: true })
  await truncate(join(dataDirectory, 'events.sqlite-wal'), bytes)
}

test('a service with a cut log starts at a committed prefix and rebuilds newer read models', async (t) => {
  const service = await killedService(t)
  const source = join(service.dataDirectory, 'events.sqlite')
  const wal = await readFile(`${source}-wal`)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'events.sqlite')
  const openCut = async (bytes: number): Promise<ReadonlyArray<string>> => {
    await cp(source, file)
    await rm(`${file}-shm`, { force: true })
    await writeFile(`${file}-wal`, wal.subarray(0, bytes))
    const ids = await idsIn(file)
    t.true(E.isRight(await verifyChain(file)), `cut at ${bytes} of ${wal.length}`)
    return ids
  }
  const allIds = await openCut(wal.length)
  t.true(allIds.length > 20)
  const ends = walFrames(wal).map(({ end }) => end)
  const sampledEnds = ends.filter((_, n) => n % Math.ceil(ends.length / 6) === 0)
  const random = chanceOf(t).random('cuts')
  const cuts = [
    0,
    1,
    WAL_HEADER,
    ...sampledEnds.flatMap((end) => [end - 1, end, end + 1]),
    ...sampledEnds.map((end) => end + Math.floor(random() * 4000)),
  ]
  const lengths = new Set<number>()
  for (const cut of cuts) {
    const ids = await openCut(Math.min(cut, wal.length))
    t.deepEqual(ids, allIds.slice(0, ids.length), `cut at ${cut}`)
    lengths.add(ids.length)
  }
  t.true(lengths.size > 3, 'the cuts give several prefixes')

  // The whole service starts after a few of the cuts, as it would after a crash of the machine.
  const kept = await copyOf(t, service.dataDirectory)
  for (const cut of [Math.floor(wal.length / 3), Math.floor(wal.length / 2), wal.length - 1]) {
    await restoreAndCut(service, kept, cut)
    await service.start()
    t.is((await service.anonymous().get('/health/ready')).status, 200)
    const clean = await stenolog(service.dataDirectory, ['check'])
    t.is(clean.code, 0, `cut at ${cut}: ${clean.stdout}`)
    await service.kill()
  }

  // The log is cut before the third session, but the read models contain the session.
  const remainingEnds = ends.toReversed()
  let end = wal.length
  for (let ids = allIds; ids.length === allIds.length; ids = await openCut(end)) end = remainingEnds.shift() ?? 0
  await restoreAndCut(service, kept, end)
  await service.start()
  const ada = await logIn(service.url(), 'ada', passwordOf('ada'))
  t.is((await ada.get('/health/ready')).status, 200)
  t.regex(service.log(), /it ends before this checkpoint/)
  const listed = (await ada.get<Listing<LiveJson>>('/lives/')).body
  t.is(listed.pagination.total_items, listed.data.length)
  t.true(listed.data.length < 3)
  const checked = await stenolog(service.dataDirectory, ['check'])
  t.is(checked.code, 0, checked.stdout)
})
