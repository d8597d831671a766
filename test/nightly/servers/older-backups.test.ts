import { chmod, readFile, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkLists, readLists, TIMELESS_SETTINGS, ADA, BOB, ROOT, type Lists } from '../../support/older-data/lists.ts'
import { writeLog, type LogCopy } from '../../support/older-data/log-copy.ts'
import { unpackFiles } from '../../support/older-data/packed-files.ts'
import { LOG, RECORD, type OlderLog, type OlderRecord } from '../../support/older-data/record.ts'
import { emptyFolder } from '../../support/older-data/upgrade.ts'
import { liveOn, speakSession, ZOE, type Lost, type Account, type BackedUp } from '../../support/restores/life.ts'
import { withKey, issueToken } from '../../support/service/api-tokens.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { createClient, logIn } from '../../support/service/client.ts'

/** A service that runs on restored data, and what it must not repeat. */
interface Restored {
  readonly url: string
  readonly dataDirectory: string
  readonly backedUp: BackedUp
  readonly lost: Lost
}

/** Where log and keyring were gone, ids begin this far behind those of the backup. */
const UNKNOWN_IDS = 1_000_000

const statusOfLogIn = async (url: string, { username, password }: Account): Promise<number> =>
  (await createClient(url).form('/login', { username, password })).status

/** Checks that ids continue behind `after`, and that what is created under them works. */
const checkIds = async (t: ExecutionContext, url: string, after: Lost['ids']): Promise<void> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const zoe = (await root.api.call('createUser', { body: { ...ZOE, permissions: ['user_retention'] } })).data.id
  t.true(zoe > after.user, `the user id ${zoe} is new`)
  const client = await logIn(url, ZOE.username, ZOE.password)
  const live = await speakSession(client, { live_retention: true })
  t.true(live.id > after.live, `the session id ${live.id} is new`)
  t.regex((await client.get<string>(`/lives/${live.id}/transcript?format=txt`)).body, /\w/, 'new text is stored')
  const profile = (await client.api.call('createProfile', { body: { name: 'after', max_chars: 30 } })).data.id
  t.true(profile > after.profile, `the profile id ${profile} is new`)
  const token = await issueToken(client)
  t.true(token.id > after.token, `the token id ${token.id} is new`)
  t.is((await withKey(url, token.token, '/lives/')).status, 200)
}

const checkModes = async (t: ExecutionContext, directory: string): Promise<void> => {
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
  t.is(await modeOf(directory), 0o700, directory)
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isFile()) t.is(await modeOf(join(directory, entry.name)), 0o600, entry.name)
}

/** Checks what holds after every restore. */
const checkAlways = async (t: ExecutionContext, restored: Restored): Promise<void> => {
  const { url, dataDirectory, backedUp, lost } = restored
  for (const jwt of lost.jwts) t.is((await createClient(url, jwt).get('/users/me')).status, 401, 'a log-in has ended')
  t.is((await withKey(url, backedUp.keys.revoked, '/lives/')).status, 401)
  const ada = await logIn(url, ADA.username, ADA.password)
  t.is((await ada.get(`/lives/${backedUp.retained.kept}/transcript`)).status, 200)
  const bob = await logIn(url, BOB.username, BOB.password)
  t.is((await bob.get(`/lives/${backedUp.unretained}/transcript`)).status, 404)
  await checkModes(t, dataDirectory)
}

/** Checks that nothing erased came back. */
const checkErased = async (t: ExecutionContext, { url, backedUp, lost }: Restored): Promise<void> => {
  t.not(await statusOfLogIn(url, lost.deleted), 200, 'a deleted user')
  const ada = await logIn(url, ADA.username, ADA.password)
  for (const path of ['', '/transcript', '/history'])
    t.is((await ada.get(`/lives/${backedUp.retained.deleted}${path}`)).status, 404, `the deleted session${path}`)
}

/** Checks a restore that replaced the data of the lost time. */
const checkRestored = async (t: ExecutionContext, restored: Restored): Promise<void> => {
  const { url, backedUp, lost } = restored
  await checkAlways(t, restored)
  await checkErased(t, restored)
  t.not(await statusOfLogIn(url, lost.disabled), 200, 'a disabled user')
  t.is((await withKey(url, backedUp.keys.kept, '/lives/')).status, 200)
  const ada = await logIn(url, ADA.username, ADA.password)
  const claim = { model: 'demo-en', language: 'en', listener_token: lost.listenerToken }
  t.is((await ada.post('/lives', claim)).status, 422, 'the listener token is still claimed')
  await checkIds(t, url, lost.ids)
}

/** Checks a restore where nothing tells what happened after the backup, or only the keys do. */
const checkRestoredWithoutLog = async (
  t: ExecutionContext, restored: Restored, hasKeys: boolean,
): Promise<void> => {
  const { url, backedUp } = restored
  await checkAlways(t, restored)
  if (hasKeys) await checkErased(t, restored)
  t.is((await withKey(url, backedUp.keys.kept, '/lives/')).status, 401, 'an API token starts inactive')
  await checkIds(t, url, { user: UNKNOWN_IDS, live: UNKNOWN_IDS, profile: UNKNOWN_IDS, token: UNKNOWN_IDS })
}

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
