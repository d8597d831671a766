import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const { open, link } = promises
/** What was done with files, in this order. */
const steps: Array<string> = []

// A lost sync shows only after a power cut, so this test counts the calls.
promises.open = async (path, ...others) => {
  const handle = await open(path, ...others)
  const sync = handle.sync.bind(handle)
  handle.sync = async () => {
    await sync()
    steps.push(String(path).includes('master.key') ? 'sync file' : 'sync folder')
  }
  return handle
}
promises.link = async (...paths) => {
  await link(...paths)
  steps.push('link')
}
syncBuiltinESMExports()
const { loadMasterKey, loadOrCreateMasterKey } = await import('../../../infrastructure/keys/master-key.ts')

test('a new master key is on the disk before it gets its name, and its name before anybody uses it', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'master.key')
  const key = await loadOrCreateMasterKey(file)
  t.deepEqual(steps, process.platform === 'win32' ? ['sync file', 'link'] : ['sync file', 'link', 'sync folder'])
  t.deepEqual(await loadMasterKey(file), key)
  t.deepEqual(await loadOrCreateMasterKey(file), key)
  t.is(steps.filter((step) => step === 'link').length, 1)
})
