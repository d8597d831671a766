import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')

/** Starts `transcribe` with its own temporary directory. Returns when the first entry appears in this directory. */
const beginTranscribe = async (t: { teardown: (fn: () => Promise<void>) => void }) => {
  const { path, remove } = await temporaryDirectory()
  const child = fork(MAIN, ['transcribe', 'nothing.wav'], {
    stdio: 'ignore',
    env: { ...CHILD_ENVIRONMENT, TMPDIR: path },
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
    await remove()
  })
  await eventually(async () => assert.equal((await readdir(path)).length, 1))
  return { child, exited, entries: () => readdir(path) }
}

test('a command interrupted while its service starts stops the service and leaves no files', async (t) => {
  const { child, exited, entries } = await beginTranscribe(t)
  child.kill('SIGTERM')
  t.is(await exited, 143)
  t.deepEqual(await entries(), [])
})
