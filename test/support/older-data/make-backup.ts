/**
 * Lets the service of another checkout live, back itself up and live on, and stores its data and its backup for
 * `older-backups.test.ts`. It lives twice: in a data directory, and with its log on EventStoreDB.
 *
 *   git worktree add /tmp/older VERSION && (cd /tmp/older && npm ci)
 *   node test/support/older-data/make-backup.ts /tmp/older test/nightly/servers/older-backups/VERSION
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { startDouble } from '../doubles/eventstoredb/start.ts'
import { liveOn, liveUntilBackup } from '../restores/life.ts'
import { launch } from '../service/launch.ts'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { eventually } from '../tools/eventually.ts'
import { readLists, ROOT, TIMELESS_SETTINGS } from './lists.ts'
import { readLog } from './log-copy.ts'
import { packFiles } from './packed-files.ts'
import { LOG, RECORD, type OlderLog, type OlderRecord } from './record.ts'

const [checkout, output] = process.argv.slice(2)
if (checkout === undefined || output === undefined) throw new Error('usage: make-backup.ts CHECKOUT OUTPUT')
const folder = await mkdtemp(join(tmpdir(), 'stenolog-older-'))
const ends: Array<() => unknown> = [() => rm(folder, { recursive: true })]

interface Life {
  readonly data: string
  readonly settings: Readonly<Record<string, string>>
}

/** Waits until the service has erased a key. Text that is not kept is erased a minute after the end. */
const untilErased = (data: string, name: string): Promise<void> =>
  eventually(() => {
    const keyring = new DatabaseSync(join(data, 'keyring.sqlite'), { readOnly: true })
    const row = keyring.prepare('SELECT 1 FROM erased WHERE name = ?').get(name)
    keyring.close()
    assert.notEqual(row, undefined, `${name} is not erased`)
  }, { timeoutMs: 180_000 })

/** Lets the older version live until it is killed, and writes down what it answered. */
const live = async ({ data, settings }: Life, backUp: () => Promise<unknown>): Promise<void> => {
  const service = launch({ teardown: (end) => void ends.unshift(end) }, settings, [], resolve(checkout))
  const url = await service.url()
  const backedUp = await liveUntilBackup(url)
  await untilErased(data, `text-${backedUp.unretained}`)
  const atBackup = await readLists(url)
  await backUp()
  const lost = await liveOn(url, backedUp)
  const record: OlderRecord = { backedUp, lost, atBackup, atEnd: await readLists(url) }
  service.kill('SIGKILL')
  assert.equal(await service.exited, null)
  await writeFile(join(data, RECORD), JSON.stringify(record))
}

const lifeOf = (name: string, stores: Readonly<Record<string, string>>): Life => {
  const data = join(folder, name)
  const administrator = { STENOLOG_ADMIN_USERNAME: ROOT.username, STENOLOG_ADMIN_PASSWORD: ROOT.password }
  return { data, settings: { ...TIMELESS_SETTINGS, ...administrator, STENOLOG_DATA_DIR: data, ...stores } }
}

const isData = (name: string): boolean => name !== 'control.sock' && !name.endsWith('-shm')
/** The read models name positions of the log, which differ in a copy of it. */
const isKey = (name: string): boolean => isData(name) && !name.startsWith('documents')

const liveEmbedded = async (): Promise<void> => {
  const [embedded, backup] = [lifeOf('embedded', {}), join(folder, 'backup')]
  const cli = join(resolve(checkout), 'interfaces', 'cli', 'main.ts')
  const env = { ...CHILD_ENVIRONMENT, ...embedded.settings }
  await live(embedded, () => promisify(execFile)(process.execPath, [cli, 'backup', backup], { env }))
  await packFiles(embedded.data, (await readdir(embedded.data)).filter(isData), join(output, 'killed'))
  await packFiles(backup, await readdir(backup), join(output, 'backup'))
}

const liveOnEventStoreDb = async (): Promise<void> => {
  const log = await startDouble()
  ends.unshift(log.dispose)
  const masterKey = join(folder, 'eventstoredb', 'master.key')
  const life = lifeOf('eventstoredb', { STENOLOG_EVENTSTORE_URL: log.url, STENOLOG_MASTER_KEY_FILE: masterKey })
  await mkdir(life.data, { mode: 0o700 })
  await writeFile(masterKey, randomBytes(32), { mode: 0o600 })
  let atBackup = 0
  await live(life, async () => (atBackup = (await readLog(log.url)).length))
  const copy: OlderLog = { atBackup, events: await readLog(log.url) }
  await writeFile(join(life.data, LOG), JSON.stringify(copy))
  await packFiles(life.data, (await readdir(life.data)).filter(isKey), join(output, 'eventstoredb'))
}

try {
  await rm(output, { recursive: true, force: true })
  await liveEmbedded()
  await liveOnEventStoreDb()
} finally {
  for (const end of ends) await end()
}
