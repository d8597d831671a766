import { randomBytes } from 'node:crypto'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { FORMAT } from '../../../infrastructure/stores/format.ts'
import { withFfmpeg } from '../../support/sources/audio-server.ts'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import {
  emptyFolder, fillAndKill, upgradeAndCheck, OLDER_CHECKOUT, startOlder, startToday,
} from '../../support/older-data/upgrade.ts'
import type { ServiceData, Settings } from '../../support/older-data/upgrade.ts'

const withOlder = OLDER_CHECKOUT === undefined ? test.skip : withFfmpeg
const withOlderOnServer = EVENTSTORE_FOLDER === undefined ? test.skip : withOlder

/** The older version ends at once, with its sentence about the store that it meets first. */
const refusesOlder = async (t: ExecutionContext, data: ServiceData, store: string): Promise<void> => {
  const older = startOlder(t, data)
  t.is(await older.exited, 1, older.stdout())
  const why = `${store} was written by a newer version of Stenolog \\(format ${FORMAT}, this version knows 1\\)`
  const told = `^stenolog cannot start: ${why}: use that version, or restore a backup of this one$`
  t.regex(older.stderr(), new RegExp(told, 'm'))
  t.is(older.stdout(), '')
}

/** The log with nothing beside it that would keep an older version from it. */
const logAlone = async (t: ExecutionContext, { dataDirectory, stores }: ServiceData): Promise<ServiceData> => {
  const alone = await emptyFolder(t)
  for (const name of await readdir(dataDirectory))
    if (/^(master\.key|events\.sqlite.*)$/.test(name)) await copyFile(join(dataDirectory, name), join(alone, name))
  const { MONGO_URL: _, ...others } = stores
  return { dataDirectory: alone, stores: others }
}

const eventsIn = (file: string): number => {
  const log = new DatabaseSync(file, { readOnly: true })
  const row = log.prepare('SELECT count(*) AS count FROM events').get()
  log.close()
  return Number(row?.['count'])
}

/** A module that ends its process, as a `kill -9` would, with the first append behind so many events. */
const dyingBehind = (events: number): string => `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql)
    if (sql !== 'COMMIT' || !this.location().endsWith('events.sqlite')) return
    const { count } = this.prepare('SELECT count(*) AS count FROM events').get()
    if (count > ${events}) process.kill(process.pid, 'SIGKILL')
  }`

withOlder('what 1f99de3 left, killed with sessions of every kind, goes on in embedded stores [D53 R104]', async (t) => {
  t.timeout(600_000)
  const data = { dataDirectory: await emptyFolder(t), stores: {} }
  const left = await fillAndKill(t, data)
  const file = join(data.dataDirectory, 'events.sqlite')
  const events = eventsIn(file)
  const code = encodeURIComponent(dyingBehind(events))
  const dying = startToday(t, data, { NODE_OPTIONS: `--import=data:text/javascript,${code}` })
  t.is(await dying.exited, null, dying.stderr())
  t.true(eventsIn(file) > events)
  // The mark was there before the event.
  await refusesOlder(t, await logAlone(t, data), 'events.sqlite')

  const { workers, open } = await upgradeAndCheck(t, left)
  for (const { worker } of [...workers, ...open]) t.is(worker, 'local')
  await refusesOlder(t, data, '(documents|events|keyring).sqlite')
})

interface Written {
  readonly stream: string
  readonly data: unknown
}

/** What services wrote into the log, its mark too, in order. */
const logOf = async (url: string): Promise<ReadonlyArray<Written>> => {
  const client = EventStoreDBClient.connectionString(url)
  const written: Array<Written> = []
  for await (const { event } of client.readAll())
    if (event !== undefined && (event.streamId === '$$stenolog' || !event.streamId.startsWith('$')))
      written.push({ stream: event.streamId, data: event.data })
  await client.dispose()
  return written
}

for (const lists of ['embedded', 'in MongoDB'])
  withOlderOnServer(`the same in a real EventStoreDB, with lists ${lists} [D53 R104]`, async (t) => {
    t.timeout(600_000)
    const keyFile = join(await emptyFolder(t), 'master.key')
    await writeFile(keyFile, randomBytes(32))
    const [log, documents] = [await startEventStoreDb(), await startMongoDouble()]
    for (const { dispose } of [log, documents]) t.teardown(dispose)
    const onMongo: Settings = lists === 'embedded' ? {} : { MONGO_URL: documents.url('stenolog') }
    const stores = { EVENTSTORE_URL: log.url, MASTER_KEY_FILE: keyFile, ...onMongo }
    const data = { dataDirectory: await emptyFolder(t), stores }
    const left = await fillAndKill(t, data)
    const before = await logOf(log.url)

    const { workers, open } = await upgradeAndCheck(t, left)
    const after = await logOf(log.url)
    t.deepEqual(after.slice(0, before.length), before)
    t.like(after[before.length], { stream: '$$stenolog', data: { format: FORMAT } })
    t.is(workers.length, 1)
    t.not(workers[0]?.worker, 'local')
    for (const { worker } of open) t.is(worker, workers[0]?.worker ?? null)
    await refusesOlder(t, data, '(the log of the event store|(documents|keyring).sqlite|the database \\S+ of MongoDB)')
    await refusesOlder(t, await logAlone(t, data), 'the log of the event store')
    t.is((await logOf(log.url)).length, after.length)
  })
