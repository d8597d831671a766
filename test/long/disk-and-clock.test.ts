import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createClient, logIn } from '../support/client.ts'
import type { Answer, Client, Listing, LiveJson, Single } from '../support/client.ts'
import { stenolog } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { launch } from '../support/launch.ts'
import type { Launched } from '../support/launch.ts'
import { ADMIN, passwordOf } from '../support/service.ts'
import { silence } from '../support/speech.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** What a directory of its own for each test gets as its data. */
const settingsFor = (dataDirectory: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  STENOLOG_DATA_DIR: dataDirectory,
  STENOLOG_PORT: '0',
  STENOLOG_ADMIN_USERNAME: ADMIN.username,
  STENOLOG_ADMIN_PASSWORD: ADMIN.password,
  STENOLOG_RATE_LIMIT: '0',
  STENOLOG_DRAIN_TIMEOUT: '0s',
  STENOLOG_VRAM_MB: '1000000',
  ...more,
})

const directoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

const userOf = async (service: Launched, username: string): Promise<{ readonly admin: Client; readonly client: Client }> => {
  const admin = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  await admin.api.call('createUser', { body: { username, password: passwordOf(username), max_sessions: 100_000 } })
  return { admin, client: await logIn(admin.url, username, passwordOf(username)) }
}

/** A small disk of its own, mounted where only the command and what it becomes see it. */
const onDisk = (directory: string, megabytes: number): ReadonlyArray<string> => [
  'unshare', '--map-root-user', '--mount', 'sh', '-c', `mount -t tmpfs -o size=${megabytes}m stenolog "$0" && exec "$@"`, directory,
]

const canMount = (): boolean => {
  const [command = '', ...args] = onDisk('/mnt', 1)
  return process.platform === 'linux' && spawnSync(command, [...args, 'true']).status === 0
}

/** Takes all room that is left; the file that did. */
const fill = (directory: string): string => {
  const path = join(directory, 'filler')
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
  return path
}

const untilStatus = (wanted: number, ask: () => Promise<Answer>): Promise<Answer> =>
  eventually(async () => {
    const answer = await ask()
    if (answer.status !== wanted) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }, { timeoutMs: 60_000 })

const onSmallDisk = canMount() ? test.serial : test.serial.skip

onSmallDisk('F8: on a disk without room writes answer 503 and reads 200, nothing acknowledged is lost or half there, and it recovers when room is there', async (t) => {
  t.timeout(600_000)
  const directory = await directoryFor(t)
  const service = launch(t, settingsFor(directory), onDisk(directory, 20))
  const { admin, client } = await userOf(service, 'crowded')
  const seen = `/proc/${service.pid()}/root${directory}`
  const [live, other] = [await client.createLive(), await client.createLive()]
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.5))
  await client.untilStatus(live, 'active')

  const filler = fill(seen)
  let made = 0
  const created = new Set<number>([live.id, other.id])
  const create = async (): Promise<Answer> => {
    const answer = await client.post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
    if (answer.status === 200) created.add(answer.body.data.id)
    return answer as unknown as Answer
  }
  // Files that have grown before take some more.
  const writes: ReadonlyArray<readonly [string, () => Promise<Answer>]> = [
    ['create a live', create],
    ['create a user', () => admin.post('/users/', { username: `user ${made++}`, password: 'a long password' })],
    ['create a profile', () => client.post('/user-live-configs/', { name: `profile ${made++}` })],
    ['issue a token', () => client.post('/tokens/', { name: 'token' })],
    ['change a limit', () => admin.put('/users/2', { max_sessions: 100_000 + made++ })],
  ]
  const slowest: Array<string> = []
  for (const [what, write] of writes) {
    const { body } = await untilStatus(503, write)
    t.is(typeof body['detail'], 'string', what)
    const begin = performance.now()
    await write()
    slowest.push(`${what} ${Math.round(performance.now() - begin)} ms`)
  }
  t.is((await client.get<Single<LiveJson>>(`/lives/${other.id}`)).body.data.status, 'pending')
  t.is((await client.get('/lives/')).status, 200)
  t.is((await client.get('/health/live')).status, 200)
  sender.sendAudio(silence(0.5))

  rmSync(filler)
  const back = performance.now()
  for (const [, write] of writes) await untilStatus(200, write)
  const recovery = performance.now() - back
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  await client.untilStatus(live, 'finished')
  await untilStatus(200, () => client.get('/health/ready'))
  const listed = (await client.get<Listing<LiveJson>>('/lives/?limit=1000')).body.data.map(({ id }) => id)
  t.deepEqual([...created].filter((id) => !listed.includes(id)), [])
  t.is(new Set(listed).size, listed.length)
  // The disk goes with the process, and SQLite does not look into the /proc of another.
  const copy = await directoryFor(t)
  service.kill('SIGSTOP')
  await cp(seen, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  service.kill('SIGCONT')
  const checked = await stenolog(copy, ['check'])
  t.is(checked.code, 0, checked.stdout)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
  t.log(`503: ${slowest.join(', ')}; all writes went through ${Math.round(recovery)} ms after there was room`)
})

const FULL = '/dev/full'
const withFull = existsSync(FULL) ? test.serial : test.serial.skip

withFull('F8: a log that cannot be written kills nothing', async (t) => {
  const directory = await directoryFor(t)
  const service = launch(t, settingsFor(directory), ['sh', '-c', `exec "$@" 2>${FULL}`, 'sh'])
  const { admin, client } = await userOf(service, 'unlogged')
  t.is((await createClient(admin.url).form('/login', { username: 'nobody', password: 'wrong' })).status, 401)
  const live = await client.createLive()
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await client.get('/health/ready')).status, 200)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
})

/** Debian's faketime. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const withFaketime = existsSync(FAKETIME) ? test.serial : test.serial.skip

withFaketime('F15: a clock that jumps by an hour, forth and back, ends no live and no login, and the order is that of the log', async (t) => {
  t.timeout(600_000)
  const directory = await directoryFor(t)
  const file = join(await directoryFor(t), 'offset')
  const jumpTo = (hours: number): void => {
    writeFileSync(`${file}.new`, `${hours >= 0 ? '+' : ''}${hours}h\n`)
    renameSync(`${file}.new`, file)
  }
  jumpTo(0)
  const service = launch(
    t,
    settingsFor(directory, {
      STENOLOG_PENDING_TIMEOUT: '3h',
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }),
  )
  const { client } = await userOf(service, 'traveller')
  const [spoken, pending] = [await client.createLive(), await client.createLive()]
  const [sender, listener] = [await client.socket(spoken, 'sender'), await client.socket(spoken, 'listener')]
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.5))
  await client.untilStatus(spoken, 'active')
  const made: Array<LiveJson> = [spoken, pending]
  for (const hours of [1, -1, 0]) {
    jumpTo(hours)
    const live = await client.createLive()
    const away = (Date.parse(live.created_at) - Date.now()) / 3_600_000
    t.true(Math.abs(away - hours) < 0.5, `the clock jumped: ${live.created_at}`)
    made.push(live)
    sender.sendAudio(silence(0.5))
    const again = await logIn(client.url, 'traveller', passwordOf('traveller'))
    t.is((await again.put(`/lives/${live.id}/finish`)).status, 200, 'a login of now')
    t.is((await client.get('/lives/')).status, 200, 'a login of before')
    t.is((await client.get<Single<LiveJson>>(`/lives/${pending.id}`)).body.data.status, 'pending')
    t.is((await client.get<Single<LiveJson>>(`/lives/${spoken.id}`)).body.data.status, 'active')
  }
  const listed = (await client.get<Listing<LiveJson>>('/lives/')).body.data.map(({ id }) => id)
  t.deepEqual(listed, made.map(({ id }) => id).toReversed())
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  t.is((await listener.closed).code, 1000)
  const types = (await client.get<{ readonly data: ReadonlyArray<{ readonly type: string }> }>(`/lives/${spoken.id}/history`)).body.data.map(({ type }) => type)
  t.is(types[0], 'LiveCreated')
  t.is(types.at(-1), 'LiveFinished')
  const checked = await stenolog(directory, ['check'])
  t.is(checked.code, 0, checked.stdout)
  service.kill('SIGTERM')
  t.is(await service.exited, 0)
})
