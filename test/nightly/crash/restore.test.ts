import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { acquireDataDirectory } from '../../../infrastructure/sqlite/data-directory.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { UNFINISHED_RESTORE } from '../../../interfaces/compose/stores.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch } from '../../support/service/launch.ts'
import { right } from '../../support/tools/right.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const keysIn = (file: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const names = database.prepare('SELECT name FROM keys').all().map(({ name }) => String(name))
  database.close()
  return names
}

test('a restore checks the backup first, and erases again the keys that were erased after the backup', async (t) => {
  const service = await startTestService(t)
  const ada = await service.user('ada')
  await ada.createLive()
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const backup = join(path, 'backup')
  t.is((await stenolog(service.dataDirectory, ['backup', backup])).code, 0)
  t.regex((await stenolog(service.dataDirectory, ['backup', backup])).stderr, /is not empty/)
  await service.kill('SIGTERM')

  const file = join(service.dataDirectory, 'keyring.sqlite')
  const keyring = await openSqliteKeyring({
    file,
    masterKey: await loadMasterKey(join(service.dataDirectory, 'master.key')),
  })
  right(await keyring.erase(['live-1']))
  await keyring.close()
  t.true(keysIn(join(backup, 'keyring.sqlite')).includes('live-1'))

  const manifest = join(backup, 'backup.json')
  const whole = await readFile(manifest, 'utf8')
  const assertRefused = async (reason: RegExp): Promise<void> => {
    const run = await stenolog(service.dataDirectory, ['restore', backup, '--replace'])
    t.is(run.code, 1)
    t.regex(run.stderr, reason)
  }
  await writeFile(manifest, whole.replace(/"version": ".*"/, '"version": "99.0.0"'))
  await assertRefused(/made by version 99\.0\.0/)
  await writeFile(manifest, whole.replace(/"format": \d+/, '"format": 99'))
  await assertRefused(/has format 99, .*Use the build that made the backup, or a later build/)
  await writeFile(manifest, whole)
  const events = await readFile(join(backup, 'events.sqlite'))
  await writeFile(join(backup, 'events.sqlite'), Buffer.from(events).fill(events.readUInt8(5000) ^ 1, 5000, 5001))
  await assertRefused(/events\.sqlite was changed/)
  await writeFile(join(backup, 'events.sqlite'), events)

  // This file marks an interrupted restore.
  await writeFile(join(service.dataDirectory, UNFINISHED_RESTORE), '')
  const started = launch(t, { STENOLOG_PORT: '0', STENOLOG_DATA_DIR: service.dataDirectory })
  t.is(await started.exited, 1)
  t.regex(started.stderr(), /a restore into .* was not finished: run it again, with --replace/)
  const restored = await stenolog(service.dataDirectory, ['restore', backup, '--replace'])
  t.is(restored.code, 0, restored.stderr)
  t.regex(restored.stdout, /^1 keys that were erased after the backup were erased again$/m)
  t.false(keysIn(file).includes('live-1'))
  await service.start()
  const checked = await stenolog(service.dataDirectory, ['check'])
  t.is(checked.code, 0, checked.stdout)
})

test('a process that holds the data directory but does not answer blocks a rebuild, but not a check', async (t) => {
  const service = await startTestService(t)
  await service.user('ada')
  await service.kill()
  const lock = acquireDataDirectory(service.dataDirectory)
  t.is(lock._tag, 'Right')
  const run = await stenolog(service.dataDirectory, ['rebuild', 'users'])
  t.is(run.code, 1)
  t.regex(
    run.stderr,
    /users: not rebuilt: another process uses the data directory and does not answer \(.*\); stop that process first/,
  )
  t.is((await stenolog(service.dataDirectory, ['check'])).code, 0)
  if (lock._tag === 'Right') lock.right.release()
  const rebuilt = await stenolog(service.dataDirectory, ['rebuild', 'users', '--json'])
  t.like(JSON.parse(rebuilt.stdout), { projection: 'users', corrected: 0 })
})
