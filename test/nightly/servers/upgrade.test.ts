import { randomBytes } from 'node:crypto'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext } from 'ava'
import { FORMAT } from '../../../infrastructure/store-rules/format.ts'
import { withFfmpeg } from '../../support/sources/audio-server.ts'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { readLog } from '../../support/older-data/log-copy.ts'
import {
  emptyFolder, fillAndKill, upgradeAndCheck, OLDER_CHECKOUTS, startOlder, startThisVersion, type ServiceData,
  type Settings,
} from '../../support/older-data/upgrade.ts'

const withOlder = OLDER_CHECKOUTS.length === 0 ? test.skip : withFfmpeg
const withOlderOnServer = EVENTSTORE_FOLDER === undefined ? test.skip : withOlder
/** Checkouts by the names of their folders. Without one, the tests are listed as skipped. */
const VERSIONS = OLDER_CHECKOUTS.length === 0
  ? [['any version', ''] as const]
  : OLDER_CHECKOUTS.map((checkout) => [basename(checkout), checkout] as const)

/** Asserts that the older version refuses the data and names a store. */
const assertOlderRefuses = async (
  t: ExecutionContext, checkout: string, data: ServiceData, store: string,
): Promise<void> => {
  const older = startOlder(t, checkout, data)
  t.is(await older.exited, 1, older.stdout())
  const reason = `${store} was written by a newer version of Stenolog \\(format ${FORMAT}[,;] this version .*\\)`
  t.regex(older.stderr(), new RegExp(`[Ss]tenolog cannot start: ${reason}: use that version, or restore a backup`))
  t.is(older.stdout(), '')
}

/** Copies only the log and the master key of a service to a new folder. */
const copyOfLog = async (t: ExecutionContext, { dataDirectory, stores }: ServiceData): Promise<ServiceData> => {
  const folder = await emptyFolder(t)
  for (const name of await readdir(dataDirectory))
    if (/^(master\.key|events\.sqlite.*)$/.test(name)) await copyFile(join(dataDirectory, name), join(folder, name))
  const { MONGO_URL: _, ...others } = stores
  return { dataDirectory: folder, stores: others }
}

const eventsIn = (file: string): number => {
  const log = new DatabaseSync(file, { readOnly: true })
  const row = log.prepare('SELECT count(*) AS count FROM events').get()
  log.close()
  return Number(row?.['count'])
}

/** Returns the source of a module that kills its process after the first append beyond this many events. */
const dyingAfter = (events: number): string => `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql)
    if (sql !== 'COMMIT' || !this.location().endsWith('events.sqlite')) return
    const { count } = this.prepare('SELECT count(*) AS count FROM events').get()
    if (count > ${events}) process.kill(process.pid, 'SIGKILL')
  }`

for (const [version, checkout] of VERSIONS)
  withOlder(`sessions of a killed ${version} continue in embedded stores`, async (t) => {
    t.timeout(600_000)
    const data = { dataDirectory: await emptyFolder(t), stores: {} }
    const filled = await fillAndKill(t, checkout, data)
    const file = join(data.dataDirectory, 'events.sqlite')
    const events = eventsIn(file)
    const code = encodeURIComponent(dyingAfter(events))
    const dying = startThisVersion(t, data, { NODE_OPTIONS: `--import=data:text/javascript,${code}` })
    t.is(await dying.exited, null, dying.stderr())
    t.true(eventsIn(file) > events)
    // The format mark was written before the event.
    await assertOlderRefuses(t, checkout, await copyOfLog(t, data), 'events.sqlite')

    const { workers, open } = await upgradeAndCheck(t, filled)
    for (const { worker } of [...workers, ...open]) t.is(worker, 'local')
    await assertOlderRefuses(t, checkout, data, '(documents|events|keyring).sqlite')
  })

for (const [version, checkout] of VERSIONS)
  for (const lists of ['embedded', 'in MongoDB'])
    withOlderOnServer(`sessions of ${version} continue in EventStoreDB (lists: ${lists})`, async (t) => {
      t.timeout(600_000)
      const keyFile = join(await emptyFolder(t), 'master.key')
      await writeFile(keyFile, randomBytes(32))
      const [log, documents] = [await startEventStoreDb(), await startMongoDouble()]
      for (const { dispose } of [log, documents]) t.teardown(dispose)
      const onMongo: Settings = lists === 'embedded' ? {} : { MONGO_URL: documents.url('stenolog') }
      const stores = { EVENTSTORE_URL: log.url, MASTER_KEY_FILE: keyFile, ...onMongo }
      const data = { dataDirectory: await emptyFolder(t), stores }
      const filled = await fillAndKill(t, checkout, data)
      const before = await readLog(log.url)

      const { workers, open } = await upgradeAndCheck(t, filled)
      const after = await readLog(log.url)
      t.deepEqual(after.slice(0, before.length), before)
      t.like(after[before.length], { stream: '$$stenolog', data: { format: FORMAT } })
      t.is(workers.length, 1)
      t.not(workers[0]?.worker, 'local')
      for (const { worker } of open) t.is(worker, workers[0]?.worker ?? null)
      await assertOlderRefuses(
        t,
        checkout,
        data,
        '(the log of the event store|(documents|keyring).sqlite|the database \\S+ of MongoDB)',
      )
      await assertOlderRefuses(t, checkout, await copyOfLog(t, data), 'the log of the event store')
      t.is((await readLog(log.url)).length, after.length)
    })
