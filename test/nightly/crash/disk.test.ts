import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClient, type Answer, type Listing, type LiveJson, type Single } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { dataDirectoryFor, launchSettings, createUser } from '../../support/service/launch-settings.ts'
import { launch, type Launched } from '../../support/service/launch.ts'
import { silence } from '../../support/audio/speech.ts'

const FAILING_DISK = join(import.meta.dirname, '..', '..', 'support', 'fixtures', 'failing-disk.c')

/** Returns a command prefix that mounts a small disk (`20m`, `8k`) on a directory. Only the command sees the disk. */
const onDisk = (directory: string, size: string): ReadonlyArray<string> => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size} stenolog "$0" && exec "$@"`,
  directory,
]

const canMount = (): boolean => {
  const [command = '', ...args] = onDisk('/mnt', '1m')
  return process.platform === 'linux' && spawnSync(command, [...args, 'true']).status === 0
}

const FILLER = 'filler'

/** Fills the disk completely. */
const fill = (directory: string): void => {
  const path = join(directory, FILLER)
  const file = openSync(path, 'a')
  try {
    for (const size of [65_536, 4096, 1])
      try {
        for (;;) writeSync(file, Buffer.alloc(size))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  } finally {
    closeSync(file)
  }
}

const untilStatus = (wanted: number, send: () => Promise<Answer>): Promise<Answer> =>
  eventually(async () => {
    const answer = await send()
    if (answer.status !== wanted) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }, { timeoutMs: 60_000 })

const onSmallDisk = canMount() ? test.serial : test.serial.skip

/**
 * Asserts that between `fail` and `mend` every write gets 503 and reads work. Asserts that after `mend` writes work,
 * the running session ends with 1000, and every acknowledged session is listed once.
 */
const assertRefusesWritesBetween = async (
  t: ExecutionContext,
  service: Launched,
  { fail, mend }: { readonly fail: () => void; readonly mend: () => void },
): Promise<void> => {
  const { admin, client } = await createUser(service, 'crowded')
  const [live, other] = [await client.createLive(), await client.createLive()]
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.5))
  await client.untilStatus(live, 'active')

  fail()
  let counter = 0
  const created = new Set<number>([live.id, other.id])
  const create = async (): Promise<Answer> => {
    const answer = await client.post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
    if (answer.status === 200) created.add(answer.body.data.id)
    return answer as unknown as Answer
  }
  // SQLite files have free pages, so a few writes may still succeed.
  const writes: ReadonlyArray<readonly [string, () => Promise<Answer>]> = [
    ['create a session', create],
    ['create a user', () => admin.post('/users/', { username: `user ${counter++}`, password: 'a long password' })],
    ['create a profile', () => client.post('/user-live-configs/', { name: `profile ${counter++}` })],
    ['issue a token', () => client.post('/tokens/', { name: 'token' })],
    ['change a limit', () => admin.put('/users/2', { max_sessions: 100_000 + counter++ })],
  ]
  const slowest: Array<string> = []
  for (const [name, write] of writes) {
    const { body } = await untilStatus(503, write)
    t.is(typeof body['detail'], 'string', name)
    const begin = performance.now()
    await write()
    slowest.push(`${name} ${Math.round(performance.now() - begin)} ms`)
  }
  t.is((await client.get<Single<LiveJson>>(`/lives/${other.id}`)).body.data.status, 'pending')
  t.is((await client.get('/lives/')).status, 200)
  t.is((await client.get('/health/live')).status, 200)
  sender.sendAudio(silence(0.5))

  mend()
  const mendedAt = performance.now()
  for (const [, write] of writes) await untilStatus(200, write)
  const recovery = performance.now() - mendedAt
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  await client.untilStatus(live, 'finished')
  await untilStatus(200, () => client.get('/health/ready'))
  const listed = (await client.get<Listing<LiveJson>>('/lives/?limit=1000')).body.data.map(({ id }) => id)
  t.deepEqual([...created].filter((id) => !listed.includes(id)), [])
  t.is(new Set(listed).size, listed.length)
  t.log(`503: ${slowest.join(', ')}; all writes worked ${Math.round(recovery)} ms after the repair`)
}

const assertEndsWell = async (t: ExecutionContext, service: Launched, data: string): Promise<void> => {
  const checked = await stenolog(data, ['check'])
  t.is(checked.code, 0, checked.stdout)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
}

onSmallDisk(
  'on a full disk writes answer 503, reads work, nothing acknowledged is lost, and the service recovers',
  async (t) => {
    t.timeout(600_000)
    const directory = await dataDirectoryFor(t)
    const service = launch(t, launchSettings(directory), onDisk(directory, '20m'))
    await service.url()
    const diskPath = `/proc/${service.pid()}/root${directory}`
    await assertRefusesWritesBetween(t, service, {
      fail: () => fill(diskPath),
      mend: () => rmSync(join(diskPath, FILLER)),
    })
    // The disk disappears with the process, and SQLite cannot open files through the /proc of another process. So the
    // check reads a copy.
    const copy = await dataDirectoryFor(t)
    service.kill('SIGSTOP')
    await cp(diskPath, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    service.kill('SIGCONT')
    await assertEndsWell(t, service, copy)
  },
)

/** Backs up to a disk of this size, then restores what is there. Returns the exit codes and the errors. */
const backUpAndRestore = async (t: ExecutionContext, data: string, kilobytes: number) => {
  const [disk, restored] = [await dataDirectoryFor(t), await dataDirectoryFor(t)]
  const stenologIn = (variable: string, command: string): string =>
    `STENOLOG_DATA_DIR="${variable}" "$2" interfaces/cli/main.ts ${command} "$0/copy"; echo "$?"`
  const script = `${stenologIn('$1', 'backup')}
    ${stenologIn('$3/data', 'restore')}
    df --output=used "$0"`
  const [command = '', ...args] = onDisk(disk, `${kilobytes}k`)
  const run = ['sh', '-c', script, disk, data, process.execPath, restored]
  const { stdout, stderr } = spawnSync(command, [...args, ...run], { encoding: 'utf8' })
  const [backedUp, restoredWith, used] = stdout.split('\n').filter((line) => /^ *\d+$/.test(line)).map(Number)
  const isRestored = existsSync(join(restored, 'data', 'events.sqlite'))
  return { codes: [backedUp, restoredWith], used: used ?? 0, stderr, isRestored }
}

onSmallDisk('a backup to a full disk fails with its reason, and what it leaves cannot be restored', async (t) => {
  t.timeout(600_000)
  const directory = await dataDirectoryFor(t)
  const service = launch(t, launchSettings(directory))
  const { client } = await createUser(service, 'saved')
  await client.createLive()
  const whole = await backUpAndRestore(t, directory, 20_000)
  t.deepEqual([whole.codes, whole.isRestored], [[0, 0], true])
  // On the last of these disks only the manifest, which is written last, has no room.
  for (const kilobytes of [8, 64, Math.round(whole.used / 2), whole.used - 4]) {
    const { codes, stderr, isRestored } = await backUpAndRestore(t, directory, kilobytes)
    t.deepEqual([codes, isRestored], [[1, 1], false], `${kilobytes} kB`)
    t.regex(stderr, /error: the backup in \S+ is incomplete: .*(?:full|ENOSPC)[^]*is not a complete backup/)
  }
})

/** True where a C compiler can build the library that makes file writes fail. */
const canCompile = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0
const withFailingDisk = canCompile ? test.serial : test.serial.skip

for (const [error, fault] of [['EIO', 'a broken disk'], ['EROFS', 'a read-only disk']] as const)
  withFailingDisk(
    `on ${fault} (${error}) writes answer 503, reads work, nothing acknowledged is lost, the service recovers`,
    async (t) => {
      t.timeout(600_000)
      const [directory, aside] = [await dataDirectoryFor(t), await dataDirectoryFor(t)]
      // While the switch file exists, all writes fail.
      const [library, switchFile] = [join(aside, 'failing-disk.so'), join(aside, 'broken')]
      t.is(spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, FAILING_DISK, '-ldl']).status, 0)
      const service = launch(
        t,
        launchSettings(directory, {
          LD_PRELOAD: library,
          FAILING_DISK: directory,
          FAILING_DISK_SWITCH: switchFile,
          FAILING_DISK_ERROR: String(constants.errno[error]),
        }),
      )
      await assertRefusesWritesBetween(t, service, {
        fail: () => writeFileSync(switchFile, ''),
        mend: () => rmSync(switchFile),
      })
      await assertEndsWell(t, service, directory)
    },
  )

const FULL = '/dev/full'
const withFull = existsSync(FULL) ? test.serial : test.serial.skip

withFull('the service keeps running when its log output cannot be written', async (t) => {
  const directory = await dataDirectoryFor(t)
  const service = launch(t, launchSettings(directory), ['sh', '-c', `exec "$@" 2>${FULL}`, 'sh'])
  const { admin, client } = await createUser(service, 'unlogged')
  t.is((await createClient(admin.url).form('/login', { username: 'nobody', password: 'wrong' })).status, 401)
  const live = await client.createLive()
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await client.get('/health/ready')).status, 200)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
})
