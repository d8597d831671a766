import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { stenolog } from '../../support/service/command-line.ts'
import { keysIn, succeed } from '../../support/restores/story.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'restores', 'kill-at-step.ts')).href

/** Backs up a service with one user and one session, and deletes both. Returns the paths of the data and the backup. */
const loseUser = async (t: ExecutionContext) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const backup = join(path, 'backup')
  const service = await startTestService(t)
  const ada = await service.user('ada')
  await ada.createLive()
  await succeed(service, 'backup', backup)
  await succeed(service, 'users', 'delete', 'ada')
  await (await service.user('bob')).createLive()
  await service.kill()
  return { service, backup, path }
}

/**
 * Kills a restore before each of its steps and repeats it. `prepare` changes the data directory before. Asserts that
 * the repeated restore knows what was lost.
 */
const killEachStep = async (t: ExecutionContext, prepare: (directory: string) => Promise<void>): Promise<void> => {
  const { service, backup, path } = await loseUser(t)
  let isKilled = true
  let steps = 0
  while (isKilled) {
    steps += 1
    const directory = join(path, `step-${steps}`)
    await cp(service.dataDirectory, directory, { recursive: true, filter: (file) => !file.endsWith('.sock') })
    await prepare(directory)
    const restore = ['restore', backup, '--replace']
    const killing = { NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT_STEP: String(steps) }
    const { code, stderr } = await stenolog(directory, restore, {}, killing)
    isKilled = code === null
    t.true(isKilled || code === 0, `step ${steps}: ${stderr}`)
    const repeated = await stenolog(directory, restore)
    t.is(repeated.code, 0, `step ${steps}: ${repeated.stderr}`)
    t.regex(repeated.stdout, /^The next ids are: session [3-9], user [4-9], /m, `step ${steps}`)
    const toDelete = JSON.parse(await readFile(join(directory, 'erase-again.json'), 'utf8')) as ReadonlyArray<string>
    t.deepEqual(toDelete, ['live-1', 'user-2'], `step ${steps}`)
    const names = keysIn(join(directory, 'keyring.sqlite'))
    t.deepEqual(names.filter((name) => ['live-1', 'user-2', 'text-1'].includes(name)), [], `step ${steps}`)
    const checked = await stenolog(directory, ['restore', '--check'])
    t.is(checked.code, 0, `step ${steps}: ${checked.stdout}${checked.stderr}`)
    await rm(directory, { recursive: true })
  }
  t.true(steps > 10, `${steps} steps`)
}

test.serial('a restore that is killed at any step can be repeated, and still knows what was lost', async (t) => {
  t.timeout(15 * 60_000)
  await killEachStep(t, () => Promise.resolve())
})

test.serial('a killed restore still knows what only the replaced log says, because the keyring is gone', async (t) => {
  t.timeout(15 * 60_000)
  await killEachStep(t, (directory) => rm(join(directory, 'keyring.sqlite')))
})
