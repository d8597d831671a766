import { chmod, readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkLists, readLists, TIMELESS_SETTINGS, type Lists } from '../../support/older-data/lists.ts'
import { writeLog, type LogCopy } from '../../support/older-data/log-copy.ts'
import { unpackFiles } from '../../support/older-data/packed-files.ts'
import { LOG, RECORD, type OlderLog, type OlderRecord } from '../../support/older-data/record.ts'
import { emptyFolder } from '../../support/older-data/upgrade.ts'
import { liveOn, type Lost } from '../../support/restores/life.ts'
import { checkRestored, checkRestoredWithoutLog } from '../../support/restores/promises.ts'
import { withKey } from '../../support/service/api-tokens.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'

/** Names of folders: the commit of the version that made the backup with `test/support/older-data/make-backup.ts`. */
const VERSIONS = ['1f99de3', 'ebe2d819', '90d084df']
const FIXTURES = join(import.meta.dirname, 'older-backups')

type Settings = Readonly<Record<string, string>>

const SETTINGS: Settings = Object.fromEntries(
  Object.entries(TIMELESS_SETTINGS).map(([name, value]) => [name.replace('STENOLOG_', ''), value]),
)

const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'))

/** Unpacks the data and the backup of a version. Everybody may read the backup, as on a careless copy. */
const unpack = async (t: ExecutionContext, version: string) => {
  const folder = await emptyFolder(t)
  const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
  await unpackFiles(join(FIXTURES, version, 'killed'), data)
  await unpackFiles(join(FIXTURES, version, 'backup'), backup)
  for (const name of await readdir(backup)) await chmod(join(backup, name), 0o644)
  const record = (await readJson(join(data, RECORD))) as OlderRecord
  await rm(join(data, RECORD))
  return { data, backup, record }
}

/** Unpacks the keys of a version whose log was on EventStoreDB. The read models are lost. */
const unpackKeys = async (t: ExecutionContext, version: string) => {
  const data = join(await emptyFolder(t), 'data')
  await unpackFiles(join(FIXTURES, version, 'eventstoredb'), data)
  const [record, log] = [await readJson(join(data, RECORD)), await readJson(join(data, LOG))]
  for (const name of [RECORD, LOG]) await rm(join(data, name))
  return { data, record: record as OlderRecord, log: log as OlderLog }
}

/** Starts a server with a copy of a log. Returns the settings of the server and of the keys in `data`. */
const startLog = async (t: ExecutionContext, copy: LogCopy, data: string): Promise<Settings> => {
  const { url, dispose } = await startEventStoreDb()
  t.teardown(dispose)
  await writeLog(url, copy)
  return { EVENTSTORE_URL: url, MASTER_KEY_FILE: join(data, 'master.key') }
}

/** Checks that a service gives the answers that the killed version gave, and that its data is sound. */
const checkAnswers = async (
  t: ExecutionContext, service: TestService, { backedUp, lost, atEnd }: OlderRecord, servers: Settings = {},
): Promise<void> => {
  checkLists(t, atEnd, await readLists(service.url()), [lost.ids.live])
  t.is((await withKey(service.url(), backedUp.keys.kept, '/lives/')).status, 200)
  t.is((await withKey(service.url(), backedUp.keys.revoked, '/lives/')).status, 401)
  await run(t, service, 'check', servers)
  t.is(await service.kill('SIGTERM'), 0)
  await run(t, service, 'check', servers)
}

/** Runs a command on the data of a service. `servers`: settings of its servers. */
const run = async (t: ExecutionContext, service: TestService, command: string, servers: Settings = {}) => {
  const { code, stdout, stderr } = await stenolog(service.dataDirectory, command.split(' '), servers)
  t.is(code, 0, `${command}:\n${stdout}${stderr}`)
  return stdout
}

/** Removes what the lost time changed from the lists at the backup. */
const withoutLost = (lists: Lists, { backedUp: { retained }, lost: { disabled, deleted } }: OlderRecord): Lists => {
  const names = [disabled, deleted].map(({ username }) => username)
  const isKept = (list: string, { id, username, name }: Lists[string][number]): boolean => {
    if (list.endsWith('/users/')) return !names.includes(String(username))
    if (list.endsWith('/tokens/')) return name !== 'revoked'
    return !/lives|transcripts|histories/.test(list) || id !== retained.deleted
  }
  const entries = Object.entries(lists)
  return Object.fromEntries(entries.map(([list, items]) => [list, items.filter((item) => isKept(list, item))]))
}

for (const version of VERSIONS) {
  test.serial(`data that a killed version ${version} left opens with equal lists and passes the check`, async (t) => {
    t.timeout(300_000)
    const { data, record } = await unpack(t, version)
    const service = await startTestService(t, SETTINGS, data)
    await run(t, service, 'check')
    await service.start()
    await checkAnswers(t, service, record)
  })

  test.serial(`a backup of version ${version} replaces its data, and nothing lost comes back`, async (t) => {
    t.timeout(300_000)
    const { data, backup, record } = await unpack(t, version)
    const service = await startTestService(t, SETTINGS, data)
    await run(t, service, `restore ${backup} --replace`)
    await service.start()
    const lists = await readLists(service.url())
    checkLists(t, withoutLost(record.atBackup, record), withoutLost(lists, record), [])
    await checkRestored(t, { ...record, url: service.url(), dataDirectory: service.dataDirectory })
    await run(t, service, 'check')
  })

  test.serial(`a backup of version ${version} restores where nothing else is left`, async (t) => {
    t.timeout(300_000)
    const { backup, record } = await unpack(t, version)
    const service = await startTestService(t, SETTINGS, await emptyFolder(t))
    t.regex(await run(t, service, `restore ${backup}`), /token/i)
    await service.start()
    await checkRestoredWithoutLog(t, { ...record, url: service.url(), dataDirectory: service.dataDirectory }, false)
    await run(t, service, 'check')
  })

  test.serial(`a backup of data of version ${version} restores after this version has lived on`, async (t) => {
    t.timeout(300_000)
    const { backup: data, record: { backedUp } } = await unpack(t, version)
    await rm(join(data, 'backup.json'))
    const service = await startTestService(t, SETTINGS, data)
    const backup = join(await emptyFolder(t), 'backup')
    await run(t, service, `backup ${backup}`)
    await service.start()
    const lost: Lost = await liveOn(service.url(), backedUp)
    await service.kill()
    await run(t, service, `restore ${backup} --replace`)
    await service.start()
    await checkRestored(t, { backedUp, lost, url: service.url(), dataDirectory: service.dataDirectory })
    await run(t, service, 'check')
  })
  test.serial(`a log on EventStoreDB that a killed version ${version} left opens with equal lists`, async (t) => {
    t.timeout(300_000)
    const { data, record, log } = await unpackKeys(t, version)
    const servers = await startLog(t, log.events, data)
    const service = await startTestService(t, { ...SETTINGS, ...servers }, data)
    await service.start()
    await checkAnswers(t, service, record, servers)
  })

  test.serial(`an older log on EventStoreDB of version ${version} restores with its keys`, async (t) => {
    t.timeout(300_000)
    const { data, record, log } = await unpackKeys(t, version)
    const servers = await startLog(t, log.events, data)
    const service = await startTestService(t, { ...SETTINGS, ...servers }, data)
    await service.start()
    await service.kill('SIGTERM')
    const backup = join(await emptyFolder(t), 'backup')
    await run(t, service, `backup ${backup}`, servers)

    const older = await startLog(t, log.events.slice(0, log.atBackup), data)
    const restored = await startTestService(t, { ...SETTINGS, ...older }, service.dataDirectory)
    await run(t, restored, `restore ${backup} --replace`, older)
    await run(t, restored, 'restore --check', older)
    // A backup that is made before the start contains the deletions that the start repeats.
    await run(t, restored, `backup ${backup}-again`, older)
    t.like(await readJson(join(`${backup}-again`, 'erase-again.json')), [`live-${record.backedUp.retained.deleted}`])
    await run(t, restored, 'rebuild', older)
    await restored.start()
    await checkRestoredWithoutLog(t, { ...record, url: restored.url(), dataDirectory: restored.dataDirectory }, true)
    await run(t, restored, 'check', older)
  })
}
