import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClient, type LiveJson, type Listing } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { launch, type Launched } from '../../support/service/launch.ts'
import { runTestService, startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const REFUSAL = /^error: Stenolog cannot start: another process uses the data directory .+\n$/

const directoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

const start = (t: ExecutionContext, directory: string, through: ReadonlyArray<string> = []): Launched =>
  launch(t, { STENOLOG_DATA_DIR: directory, STENOLOG_PORT: '0' }, through)

const assertRefused = async (t: ExecutionContext, { exited, stdout, stderr }: Launched): Promise<void> => {
  t.is(await exited, 1)
  t.is(stdout(), '')
  t.regex(stderr(), REFUSAL)
}

/** Returns the SHA-256 of each file below a directory. */
const filesOf = async (directory: string): Promise<Readonly<Record<string, string>>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const hashes = files.toSorted().map(async (file) => {
    return [file, createHash('sha256').update(await readFile(file)).digest('hex')] as const
  })
  return Object.fromEntries(await Promise.all(hashes))
}

/** Runs a command that sees `directory` at `place` too. */
const withMount = (directory: string, place: string): readonly [string, ...ReadonlyArray<string>] =>
  ['unshare', '-Urm', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', directory, place]

const canMount = (directory: string): boolean => {
  const [command, ...args] = [...withMount(directory, directory), 'true']
  return spawnSync(command, args).status === 0
}

test.serial('beside a service, a second one and a restore change nothing, by whatever path', async (t) => {
  t.timeout(180_000)
  const service = await startTestService(t)
  const live = await (await service.user('ada')).createLive()
  const other = await directoryFor(t)
  const [linked, mounted, backup] = [join(other, 'linked'), join(other, 'mounted'), join(other, 'backup')]
  await symlink(service.dataDirectory, linked)
  await mkdir(mounted)
  t.is((await stenolog(linked, ['backup', backup])).code, 0)

  // The service writes nothing while it stands still.
  process.kill(service.pid(), 'SIGSTOP')
  const before = await filesOf(service.dataDirectory)
  for (const path of [service.dataDirectory, linked]) {
    await assertRefused(t, start(t, path))
    const { code, stderr } = await stenolog(path, ['restore', backup, '--replace'])
    t.is(code, 1)
    t.regex(stderr, /^error: Another process uses the data directory .+\.\n.*Stop the service first\.\n$/)
  }
  if (canMount(mounted)) await assertRefused(t, start(t, mounted, withMount(service.dataDirectory, mounted)))
  else t.log('no mounts here')
  t.deepEqual(await filesOf(service.dataDirectory), before)
  process.kill(service.pid(), 'SIGCONT')

  const rebuilt = await stenolog(linked, ['rebuild', 'lives'])
  t.is(rebuilt.code, 0, rebuilt.stderr)
  const ada = await service.logIn('ada')
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  const { code, stdout } = await stenolog(linked, ['check'])
  t.is(code, 0, stdout)
})

test.serial('of two services that start at the same moment on one directory, one runs and one refuses', async (t) => {
  t.timeout(600_000)
  for (let round = 0; round < 10; round += 1) {
    const directory = await directoryFor(t)
    // The second time, the directory already contains data.
    for (const state of ['new', 'used']) {
      const both = [start(t, directory), start(t, directory)]
      const loser = await Promise.race(both.map((service) => service.exited.then(() => service)))
      await assertRefused(t, loser)
      const [winner] = both.filter((service) => service !== loser)
      if (winner === undefined) throw new Error('no winner')
      t.is((await createClient(await winner.url()).get('/health/ready')).status, 200, `round ${round}, ${state}`)
      winner.kill('SIGKILL')
      await winner.exited
    }
    if (round > 0) continue
    const { code, stdout } = await stenolog(directory, ['check'])
    t.is(code, 0, stdout)
  }
})

test.serial('a copy of the directory of a running service starts whole, or refuses with one message', async (t) => {
  t.timeout(600_000)
  const service = await startTestService(t)
  const ada = await service.user('ada')
  const stopping = new AbortController()
  const acknowledged: Array<number> = []
  const writing = (async () => {
    while (!stopping.signal.aborted) {
      const { id } = await ada.createLive()
      acknowledged.push(id)
      await ada.put(`/lives/${id}/finish`)
    }
  })()
  const outcomes: Array<string> = []
  for (let round = 0; round < 5; round += 1) {
    const [copy, known] = [await directoryFor(t), [...acknowledged]]
    const filter = (file: string): boolean => !file.endsWith('.sock')
    await cp(service.dataDirectory, copy, { recursive: true, filter })
    const { code, stdout, stderr } = await stenolog(copy, ['check'])
    const { dispose, ...started } = await runTestService({}, copy)
    t.teardown(dispose)
    const problem = await started.start().then(() => null, String)
    outcomes.push(`check ${code}, ${problem === null ? 'started' : 'refused'}`)
    if (problem !== null) {
      t.not(code, 0, problem)
      t.regex(problem, /cannot start/)
      t.notRegex(problem, /^\s+at /m)
      continue
    }
    if (code !== 0) {
      t.regex(stdout + stderr, / WRONG$/m)
      continue
    }
    const client = await started.logIn('ada')
    const { pagination } = (await client.get<Listing<LiveJson>>('/lives/')).body
    t.true(pagination.total_items >= known.length, `round ${round}: ${pagination.total_items} of ${known.length}`)
  }
  t.log(outcomes.join('; '))
  stopping.abort()
  await writing
  t.is((await service.anonymous().get('/health/ready')).status, 200)
})
