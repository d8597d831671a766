import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../../../infrastructure/sqlite/data-directory.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const startHolder = async (
  t: ExecutionContext,
  directory: string,
): Promise<{ readonly child: ChildProcess; readonly answer: string }> => {
  const script = fileURLToPath(new URL('./directory-holder.ts', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', script, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [answer] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, answer }
}

const kill = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

test('a data directory is readable by its owner only and belongs to one process until that process dies', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const directory = join(path, 'deep', 'data')
  const first = await startHolder(t, directory)
  t.is(first.answer, 'held')
  if (process.platform !== 'win32') t.is((await stat(directory)).mode & 0o777, 0o700)
  const second = await startHolder(t, directory)
  t.is(second.answer, 'in use')
  t.deepEqual(acquireDataDirectory(directory), E.left({ _tag: 'DataDirectoryInUse', path: directory }))
  await kill(second.child)
  await kill(first.child)
  const third = await startHolder(t, directory)
  t.is(third.answer, 'held')
  await kill(third.child)
})

test('a released data directory can be taken again', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const lock = acquireDataDirectory(path)
  t.true(E.isLeft(acquireDataDirectory(path)))
  if (E.isRight(lock)) lock.right.release()
  const again = acquireDataDirectory(path)
  t.true(E.isRight(again))
  if (E.isRight(again)) again.right.release()
})
