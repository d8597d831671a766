import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { modeCheck } from '../../../../../interfaces/cli/doctor/mode-checks.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const PRIVATE = ['events.sqlite', 'events.sqlite-wal', 'documents.sqlite', 'keyring.sqlite', 'master.key']

test('doctor names the command that closes data and keys to other users', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const settings = { dataDir: join(path, 'data'), masterKeyFile: null }
  t.true((await modeCheck(settings)).ok, 'nothing exists before the first start')
  await mkdir(settings.dataDir, { mode: 0o700 })
  for (const name of PRIVATE) await writeFile(join(settings.dataDir, name), '', { mode: 0o600 })
  await writeFile(join(settings.dataDir, 'notes.txt'), '')
  t.true((await modeCheck(settings)).ok)
  for (const [name, command] of [
    ['.', `chmod 700 ${settings.dataDir}`],
    ...PRIVATE.map((file) => [file, `chmod 600 ${join(settings.dataDir, file)}`] as const),
  ] as const) {
    const file = join(settings.dataDir, name)
    const mode = name === '.' ? 0o700 : 0o600
    for (const open of [0o040, 0o004, 0o002]) {
      await chmod(file, mode | open)
      t.deepEqual(await modeCheck(settings), {
        name: 'permissions', ok: false, detail: `other users can use the data: ${command}`,
      })
    }
    await chmod(file, mode)
  }
})

test('doctor cannot tell who reads a data directory or a master key that it cannot examine', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const unreadable = join(path, 'loop')
  await symlink(unreadable, unreadable)
  for (const settings of [{ dataDir: unreadable, masterKeyFile: null }, { dataDir: path, masterKeyFile: unreadable }]) {
    const { ok, detail } = await modeCheck(settings)
    t.is(ok, null)
    t.regex(detail, /^cannot tell who can read the data: ELOOP.*loop/)
  }
})

test('doctor checks the master key that the settings name', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const masterKeyFile = join(path, 'key')
  await writeFile(masterKeyFile, '')
  await chmod(masterKeyFile, 0o644)
  t.is(
    (await modeCheck({ dataDir: path, masterKeyFile })).detail,
    `other users can use the data: chmod 600 ${masterKeyFile}`,
  )
})
