/**
 * Lets the service of another checkout live, back itself up and live on, and stores its data and its backup for
 * `older-backup.test.ts`:
 *
 *   git worktree add /tmp/older VERSION && (cd /tmp/older && npm ci)
 *   node test/support/older-data/make-backup.ts /tmp/older test/nightly/servers/older-backup/VERSION
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { liveOn, liveUntilBackup } from '../restores/life.ts'
import { launch } from '../service/launch.ts'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { eventually } from '../tools/eventually.ts'
import { readLists, ROOT, TIMELESS_SETTINGS } from './lists.ts'
import { packFiles } from './packed-files.ts'
import { RECORD } from './record.ts'
import type { OlderRecord } from './record.ts'

const [checkout, output] = process.argv.slice(2)
if (checkout === undefined || output === undefined) throw new Error('usage: make-backup.ts CHECKOUT OUTPUT')
const folder = await mkdtemp(join(tmpdir(), 'stenolog-older-'))
const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
const settings = {
  ...TIMELESS_SETTINGS,
  STENOLOG_DATA_DIR: data,
  STENOLOG_ADMIN_USERNAME: ROOT.username,
  STENOLOG_ADMIN_PASSWORD: ROOT.password,
}
const ends: Array<() => unknown> = [() => rm(folder, { recursive: true })]

/** Waits until the service has erased a key. Text that is not kept is erased a minute after the end. */
const untilErased = (name: string): Promise<void> =>
  eventually(() => {
    const keyring = new DatabaseSync(join(data, 'keyring.sqlite'), { readOnly: true })
    const row = keyring.prepare('SELECT 1 FROM erased WHERE name = ?').get(name)
    keyring.close()
    assert.notEqual(row, undefined, `${name} is not erased`)
  }, { timeoutMs: 180_000 })

try {
  const service = launch({ teardown: (end) => void ends.unshift(end) }, settings, [], resolve(checkout))
  const url = await service.url()
  const backedUp = await liveUntilBackup(url)
  await untilErased(`text-${backedUp.unretained}`)
  const atBackup = await readLists(url)
  const cli = join(resolve(checkout), 'interfaces', 'cli', 'main.ts')
  await promisify(execFile)(process.execPath, [cli, 'backup', backup], { env: { ...CHILD_ENVIRONMENT, ...settings } })
  const lost = await liveOn(url, backedUp)
  const record: OlderRecord = { backedUp, lost, atBackup, atEnd: await readLists(url) }
  service.kill('SIGKILL')
  assert.equal(await service.exited, null)
  await writeFile(join(data, RECORD), JSON.stringify(record))
  await rm(output, { recursive: true, force: true })
  const isData = (name: string): boolean => name !== 'control.sock' && !name.endsWith('-shm')
  await packFiles(data, (await readdir(data)).filter(isData), join(output, 'killed'))
  await packFiles(backup, await readdir(backup), join(output, 'backup'))
} finally {
  for (const end of ends) await end()
}
