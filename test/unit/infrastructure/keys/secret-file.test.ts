import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { loadOrCreateMasterKey } from '../../../../infrastructure/keys/master-key.ts'
import { passwordIn, readPasswordFile } from '../../../../infrastructure/keys/secret-file.ts'
import { readSettings, type Settings } from '../../../../infrastructure/settings/settings.ts'
import { adminPassword } from '../../../../interfaces/compose/accounts.ts'
import { readMasterKey } from '../../../../interfaces/compose/stores.ts'
import { readPassword } from '../../../../interfaces/cli/password-input.ts'
import { programPath, testWith } from '../../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const MKFIFO = programPath('mkfifo')

const settingsWith = (settings: Readonly<Record<string, string>>): Settings => {
  const read = readSettings({ STENOLOG_ADMIN_USERNAME: 'root', ...settings })
  if (E.isLeft(read)) throw new Error(read.left.join())
  return read.right
}

/** Everything that reads a secret from a file, by the name that its messages begin with. */
const READERS: Readonly<Record<string, (file: string) => Promise<unknown>>> = {
  STENOLOG_MASTER_KEY_FILE: (file) =>
    readMasterKey(settingsWith({ STENOLOG_MASTER_KEY_FILE: file, STENOLOG_ADMIN_PASSWORD: 'long enough' })),
  STENOLOG_ADMIN_PASSWORD_FILE: (file) => adminPassword(settingsWith({ STENOLOG_ADMIN_PASSWORD_FILE: file })),
  '--password-file': readPassword,
}

for (const [name, read] of Object.entries(READERS))
  test(`${name} names itself and the path when its file is unusable`, async (t) => {
    const { path, remove } = await temporaryDirectory()
    t.teardown(remove)
    const at = (file: string): string => join(path, file)
    await mkdir(at('folder'))
    await writeFile(at('empty'), '')
    await writeFile(at('large'), 'x'.repeat(4097))
    const reports = async (file: string, problem: string): Promise<void> => {
      const error = await t.throwsAsync(read(file))
      t.true(error?.message.startsWith(`${name}: ${problem}`), error?.message)
    }
    await reports(at('folder'), `${at('folder')} is a folder`)
    await reports(at('empty'), `${at('empty')} is empty`)
    await reports(at('large'), `${at('large')} has more than 4096 bytes`)
    await reports('/dev/zero', '/dev/zero has more than 4096 bytes')
    await reports(at('missing'), `there is no file ${at('missing')}`)
    await reports(at('empty/below'), `${at('empty/below')} cannot be read (ENOTDIR`)
  })

test('a folder in place of the master key in the data directory is named', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await t.throwsAsync(loadOrCreateMasterKey(path), { message: new RegExp(`^the master key: ${path} is a folder`) })
})

test('a password keeps its spaces, and loses a byte order mark and line ends', (t) => {
  const password = ' grüezi mitenand '
  for (const text of [password, `${password}\n`, `${password}\r\n`, `\uFEFF${password}\r\n`, `${password}\n\n`])
    t.deepEqual(passwordIn(Buffer.from(text)), E.right(password))
  t.deepEqual(passwordIn(Buffer.from(password, 'latin1')), E.left('is not text in UTF-8'))
  t.deepEqual(passwordIn(Buffer.from(`\uFEFF${password}`, 'utf16le')), E.left('is not text in UTF-8'))
})

testWith(MKFIFO)('a password can come through a pipe', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const pipe = join(path, 'pipe')
  execFileSync(MKFIFO, [pipe])
  const read = readPasswordFile(pipe)
  createWriteStream(pipe).end('long enough\n')
  t.deepEqual(await read, E.right('long enough'))
})
