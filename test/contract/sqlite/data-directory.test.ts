import { spawn, type ChildProcess } from 'node:child_process'
import { on, once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory, isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

interface Holder {
  readonly child: ChildProcess
  readonly answer: string
}

/** Starts a process that takes the directory and waits `waitMs` for it. Calls `whileLocking` at the moment before. */
const startHolder = async (
  t: ExecutionContext, directory: string, waitMs = 0, whileLocking?: () => void,
): Promise<Holder> => {
  const script = fileURLToPath(new URL('./directory-holder.ts', import.meta.url))
  const options = ['--expose-gc', script, directory, String(waitMs)]
  const child = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = on(createInterface({ input: child.stdout }), 'line')
  await lines.next()
  whileLocking?.()
  const { value } = (await lines.next()) as { readonly value: [string] }
  return { child, answer: value[0] }
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

test('a process waits for a lock that another process holds only for a moment', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const lock = acquireDataDirectory(path)
  if (E.isLeft(lock)) return t.fail()
  const { child, answer } = await startHolder(t, path, 60_000, () => setTimeout(lock.right.release, 200))
  t.is(answer, 'held')
  await kill(child)
})

test('a look at the lock shows whether it is held, and creates no file', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  t.false(isDataDirectoryInUse(path))
  t.deepEqual(await readdir(path), [])
  const { child } = await startHolder(t, path)
  t.true(isDataDirectoryInUse(path))
  await kill(child)
  t.false(isDataDirectoryInUse(path))
})
