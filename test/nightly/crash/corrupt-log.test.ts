import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { newEvents, right } from '../../contract/event-store-support.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { WAL_HEADER, walFrames } from '../../support/events/sqlite-wal.ts'
import { startTestService } from '../../support/service/service.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const APPENDS = 40
/** Number of events in each append. A log whose length is not a multiple of it contains a part of an append. */
const BATCH = 3
const FLIPS = 400

const directoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

/** Returns the ids of the events in a file and its write-ahead file, in order. */
const idsIn = (file: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(file)
  try {
    const hasTable = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'events'").get() !== undefined
    return hasTable ? database.prepare('SELECT id FROM events ORDER BY pos').all().map(({ id }) => String(id)) : []
  } finally {
    database.close()
  }
}

test('a flipped byte in the write-ahead file costs no commit before its frame, and tears none', async (t) => {
  t.timeout(600_000)
  const random = chanceOf(t).random('flips')
  const path = await directoryFor(t)
  const [written, copied, flipped] = [join(path, 'written.db'), join(path, 'copied.db'), join(path, 'flipped.db')]
  const store = await openSqliteEventStore({ file: written })
  const acknowledged: Array<string> = []
  for (let n = 0; n < APPENDS; n += 1) {
    const events = newEvents(BATCH, n * BATCH)
    await right(store.append(`live-${n % 4}`, 'any', events))
    acknowledged.push(...events.map(({ id }) => id))
  }
  // The files are copied before the close, in the state in which a kill would leave them.
  for (const suffix of ['', '-wal']) await cp(`${written}${suffix}`, `${copied}${suffix}`)
  await store.close()
  const wal = await readFile(`${copied}-wal`)
  const frames = walFrames(wal)
  const missingFrom = (at: number): number => {
    const intact = at < WAL_HEADER ? 0 : frames.filter(({ end, commits }) => commits && end <= at).length
    return frames.filter(({ commits }) => commits).length - intact
  }
  const places = [
    ...Array.from({ length: WAL_HEADER }, (_, n) => n),
    ...Array.from({ length: 24 }, (_, n) => (frames.at(-4)?.end ?? 0) + n),
    ...Array.from({ length: FLIPS }, () => Math.floor(random() * wal.length)),
  ]
  for (const at of places) {
    await cp(copied, flipped)
    await rm(`${flipped}-shm`, { force: true })
    const bytes = Buffer.from(wal)
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << Math.floor(random() * 8)), at)
    await writeFile(`${flipped}-wal`, bytes)
    const ids = idsIn(flipped)
    t.deepEqual(ids, acknowledged.slice(0, Math.max(0, acknowledged.length - missingFrom(at) * BATCH)), `byte ${at}`)
    if (ids.length > 0) t.deepEqual(await verifyChain(flipped), E.right(ids.length), `byte ${at}`)
  }
})

const LOG = 'events.sqlite'

const dataOf = async (t: ExecutionContext, dataDirectory: string): Promise<string> => {
  const path = await directoryFor(t)
  await cp(dataDirectory, path, { recursive: true, filter: (file) => !file.endsWith('.sock') })
  return path
}

test('a service with a corrupt write-ahead file starts with a whole prefix, or check names the damage', async (t) => {
  t.timeout(600_000)
  /** Returns the log of a copy, because reading it merges its write-ahead file. */
  const logOf = async (directory: string): Promise<string> => join(await dataOf(t, directory), LOG)
  const service = await startTestService(t)
  const ada = await service.user('ada')
  for (let n = 0; n < 5; n += 1) await ada.put(`/lives/${(await ada.createLive()).id}/finish`)
  await service.kill()
  const early = await dataOf(t, service.dataDirectory)
  await service.start()
  await service.kill('SIGTERM')
  const merged = await dataOf(t, service.dataDirectory)
  await service.start()
  const again = await service.logIn('ada')
  for (let n = 0; n < 5; n += 1) await again.put(`/lives/${(await again.createLive()).id}/finish`)
  await service.kill()
  const late = await dataOf(t, service.dataDirectory)
  const stranger = await startTestService(t)
  await (await stranger.user('bob')).createLive()
  await stranger.kill()

  const wal = await readFile(join(late, `${LOG}-wal`))
  const flip = (at: number): Buffer => {
    const bytes = Buffer.from(wal)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    return bytes
  }
  const half = walFrames(wal).at(walFrames(wal).length >> 1)?.end ?? 0
  const strangers = await readFile(join(stranger.dataDirectory, `${LOG}-wal`))
  const older = await readFile(join(early, `${LOG}-wal`))
  const [kept, fromOther] = [idsIn(await logOf(late)), 'contains an encrypted value that was changed or copied']
  const cases: ReadonlyArray<readonly [string, string, Buffer | null, string?]> = [
    ['a flipped byte', late, flip(half + 500)],
    ['a flipped byte in its header', late, flip(9)],
    ['an empty file', late, Buffer.alloc(0)],
    ['no file', late, null],
    ['zeros', late, Buffer.alloc(wal.length)],
    ['an older file beside a merged log', merged, older],
    ['an older file beside a log with newer commits', late, older],
    ['the file of another service', late, strangers, fromOther],
    ['the file of another service beside a merged log', merged, strangers, fromOther],
  ]
  for (const [name, from, bytes, problem] of cases) {
    for (const file of await readdir(service.dataDirectory))
      await rm(join(service.dataDirectory, file), { recursive: true })
    await cp(from, service.dataDirectory, { recursive: true })
    const file = join(service.dataDirectory, LOG)
    for (const suffix of ['-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    if (bytes !== null) await writeFile(`${file}-wal`, bytes)
    const ids = idsIn(await logOf(service.dataDirectory))
    const { stdout } = await stenolog(service.dataDirectory, ['check'])
    t.regex(stdout, /^hash chain +ok /m, name)
    if (problem === undefined) {
      t.deepEqual(ids, kept.slice(0, ids.length), name)
      t.regex(stdout, /^decoding +ok /m, name)
      t.true(ids.length >= idsIn(await logOf(early)).length, name)
    } else t.true(stdout.includes(problem), name)
    const refusal = await service.start().then(() => null, String)
    if (refusal !== null) {
      t.regex(refusal, /error: Stenolog cannot start: .+/, name)
      t.notRegex(refusal, /^\s+at /m, name)
      continue
    }
    t.is((await service.anonymous().get('/health/ready')).status, 200, name)
    await service.kill()
  }
})
