import { randomBytes } from 'node:crypto'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { deriveKey, loadMasterKey, loadOrCreateMasterKey } from '../../../../infrastructure/keys/master-key.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

test('a master key is created once, readable by its owner only, and read again later', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'master.key')
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadOrCreateMasterKey(file)))
  t.is(new Set(keys.map((key) => key.toString('hex'))).size, 1)
  t.is(keys[0]?.byteLength, 32)
  t.deepEqual(await loadMasterKey(file), keys[0])
  t.deepEqual(await readdir(path), ['master.key'])
  if (process.platform !== 'win32') t.is((await stat(file)).mode & 0o777, 0o600)
})

test('a master key may be raw, hexadecimal or base64', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const key = randomBytes(32)
  const forms = [
    key,
    key.toString('hex'),
    `${key.toString('hex').toUpperCase()}\n`,
    `${key.toString('base64')}\n`,
    key.toString('base64url'),
    `\uFEFF${key.toString('base64')}\r\n`,
  ]
  for (const [index, form] of forms.entries()) {
    const file = join(path, String(index))
    await writeFile(file, form)
    t.deepEqual(await loadMasterKey(file), key)
  }
})

test('a file without a master key is refused and stays unchanged', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'master.key')
  for (const content of ['too short', randomBytes(31), randomBytes(33), 'g'.repeat(64)]) {
    await writeFile(file, content)
    await t.throwsAsync(loadMasterKey(file), { message: /is not a master key/ })
    await t.throwsAsync(loadOrCreateMasterKey(file), { message: /is not a master key/ })
    t.is((await stat(file)).size, Buffer.byteLength(content))
  }
})

test('keys of different purposes differ and depend on the master key', (t) => {
  const [first, second] = [randomBytes(32), randomBytes(32)]
  const keys = [first, second].flatMap((key) =>
    (['keyring', 'jwt', 'hmac'] as const).map((purpose) => deriveKey(key, purpose).toString('hex')),
  )
  t.is(new Set([...keys, first.toString('hex')]).size, 7)
  t.deepEqual(deriveKey(first, 'jwt'), deriveKey(first, 'jwt'))
})
