import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { v7 } from 'uuid'
import type { NewEvent, StoredEvent } from '../../../application/ports/event-store.ts'
import { snapshotStream } from '../../../domain/shared/snapshot.ts'
import type { Client, Listing, LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { openLogOf } from '../../support/stores/stores.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { right } from '../../support/tools/right.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { HOTWORDS } from '../../support/worlds/long-streams.ts'

type Settings = Readonly<Record<string, string>>

interface Checked {
  readonly checks: ReadonlyArray<{ readonly name: string; readonly problems: ReadonlyArray<unknown> }>
}

/** Starts a service with one user and one session. Returns it, a folder for backups and functions that run commands. */
const withUser = async (t: ExecutionContext, servers: Settings) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const settings = { ...servers, MASTER_KEY_FILE: join(path, 'master.key') }
  await writeFile(settings.MASTER_KEY_FILE, randomBytes(32))
  const service = await startTestService(t, settings)
  const run = (args: ReadonlyArray<string>, overrides: Settings = {}) =>
    stenolog(service.dataDirectory, args, { ...settings, ...overrides })
  const succeed = async (...args: ReadonlyArray<string>): Promise<string> => {
    const { code, stdout, stderr } = await run(args)
    t.is(code, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }
  const ada = await eventually(() => service.user('ada'))
  await ada.createLive()
  return { service, settings, backup: join(path, 'backup'), run, succeed }
}

const count = async (client: Client): Promise<number> =>
  (await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items

/** A start may time out on a slow server, so it is repeated, as a supervisor does. */
const restart = (service: Pick<TestService, 'start'>): Promise<void> =>
  eventually(() => service.start(), { timeoutMs: 60_000 })

const assertCannotLogIn = (t: ExecutionContext, logIn: () => Promise<Client>) =>
  t.throwsAsync(logIn, undefined, 'the deleted user is back')

test('with a log on EventStoreDB a backup holds keys and read models, and deletions survive a restore', async (t) => {
  const log = await startEventStoreDb()
  t.teardown(log.dispose)
  const { service, backup, run, succeed } = await withUser(t, { EVENTSTORE_URL: log.url })
  const bob = await service.user('bob')
  await bob.createLive()
  const output = await succeed('backup', backup)
  t.regex(output, /^the keys and read models are in /)
  t.regex(
    output,
    /^The data in EventStoreDB are not included\. Keep a copy of EventStoreDB that is older than this backup\.$/m,
  )
  t.deepEqual((await readdir(backup)).toSorted(), ['backup.json', 'documents.sqlite', 'keyring.sqlite'])
  const manifest = JSON.parse(await readFile(join(backup, 'backup.json'), 'utf8')) as object
  t.like(manifest, { rows: null, servers: ['EventStoreDB'] })

  await succeed('users', 'delete', 'bob')
  await service.kill('SIGTERM')
  const embedded = await run(['restore', backup, '--replace'], { EVENTSTORE_URL: '' })
  t.is(embedded.code, 1)
  t.regex(embedded.stderr, /belongs to a service with EventStoreDB, but these settings use no server/)
  const again = await succeed('restore', backup, '--replace')
  t.regex(again, /^\d+ keys that were erased after the backup were erased again$/m)
  const secondBackup = `${backup}-after-restore`
  await succeed('backup', secondBackup)
  await restart(service)
  await eventually(async () => t.is(await count(await service.logIn('ada')), 1))
  await assertCannotLogIn(t, () => service.logIn('bob'))
  const { checks } = JSON.parse((await run(['check', '--json'])).stdout) as Checked
  const aboutKeys = checks.filter(({ name }) => ['files', 'keys', 'decoding', 'erasure'].includes(name))
  t.deepEqual(aboutKeys.map(({ problems }) => problems), [[], [], [], []])

  // The machine is lost, but EventStoreDB is not.
  await service.kill()
  for (const name of await readdir(service.dataDirectory))
    await rm(join(service.dataDirectory, name), { recursive: true })
  await succeed('restore', secondBackup)
  const toErase = JSON.parse(
    await readFile(join(service.dataDirectory, 'erase-again.json'), 'utf8'),
  ) as ReadonlyArray<string>
  t.deepEqual(toErase, [], 'the log says that the user was deleted, so nothing is repeated')
  // The restored directory counts as a new one, so the log still belongs to the lost directory.
  await succeed('log', 'take-over')
  await restart(service)
  await eventually(async () => assert.equal(await count(await service.logIn('ada')), 1))
})

test('with lists and keys on MongoDB a backup holds the log, and deletions survive a restore', async (t) => {
  const lists = await startMongoDouble()
  t.teardown(lists.dispose)
  const { service, backup, run, succeed } = await withUser(t, { MONGO_URL: lists.url('stenolog') })
  await (await service.user('bob')).createLive()
  const output = await succeed('backup', backup)
  t.regex(output, /^\d+ rows of the log are in /)
  t.regex(output, /^The data in MongoDB are not included\. Keep a copy of MongoDB that is newer than this backup\.$/m)
  t.deepEqual((await readdir(backup)).toSorted(), ['backup.json', 'events.sqlite'])
  await succeed('users', 'delete', 'bob')
  await service.kill('SIGTERM')
  const otherStores = await run(['restore', backup, '--replace'], { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' })
  t.regex(otherStores.stderr, /these settings store all data in EventStoreDB and MongoDB\./)
  await succeed('restore', backup, '--replace')
  await restart(service)
  await eventually(async () => assert.equal(await count(await service.logIn('ada')), 1))
  await assertCannotLogIn(t, () => service.logIn('bob'))
  // The lists may show the deletion with a short delay.
  await eventually(async () => {
    const { code, stdout } = await run(['check'])
    assert.equal(code, 0, stdout)
  })
})

/** The stream of a user's profiles and its snapshots in the log of a service. */
const profilesIn = (stores: Settings, userId: number) => {
  const stream = `profiles-${userId}`
  const inLog = async <A>(task: (log: Awaited<ReturnType<typeof openLogOf>>) => Promise<A>): Promise<A> => {
    const log = await openLogOf({ dataDirectory: '', stores })
    try {
      return await task(log)
    } finally {
      await log.close()
    }
  }
  return {
    length: () => inLog(async (log) => right(await log.read(stream)).length),
    snapshots: () => inLog(async (log) => right(await log.read(snapshotStream(stream)))),
    /** Appends snapshots of another log, as a process does that still knows that log. */
    addSnapshots: (others: ReadonlyArray<StoredEvent>) =>
      inLog(async (log) => {
        const copies = others.map(({ type, data, metadata }): NewEvent =>
          ({ id: v7(), type, data: data as NewEvent['data'], metadata }))
        right(await log.append(snapshotStream(stream), 'any', copies))
      }),
  }
}

for (const keysOn of ['the data directory', 'MongoDB'])
  test(`with keys in ${keysOn} an older log on EventStoreDB is restored without snapshots of the newer`, async (t) => {
    t.timeout(300_000)
    const [log, lists] = [await startEventStoreDb(), await startMongoDouble()]
    for (const { dispose } of [log, lists]) t.teardown(dispose)
    const onMongo: Settings = keysOn === 'MongoDB' ? { MONGO_URL: lists.url('stenolog') } : {}
    const { service, settings, backup, succeed } = await withUser(t, { EVENTSTORE_URL: log.url, ...onMongo })
    const api = async () => (await service.logIn('ada')).api
    const [{ data: { id: userId } }, { data: often }, { data: seldom }] = [
      await (await api()).call('getMe', {}),
      await (await api()).call('createProfile', { body: { name: 'often' } }),
      await (await api()).call('createProfile', { body: { name: 'seldom' } }),
    ]
    const profiles = profilesIn(settings, userId)
    const change = async (name: string): Promise<void> => {
      const { call } = await api()
      for (let n = 1; n <= 30; n++)
        await call('changeProfile', { path: { id: often.id }, body: { name: `${name} ${n}`, hotwords: HOTWORDS } })
    }
    /** Changes a member of a profile. Returns its name, which the command takes from the state of the stream. */
    const nameAfterCommand = async ({ id }: { readonly id: number }, maxLines: number): Promise<string> =>
      (await (await api()).call('changeProfile', { path: { id }, body: { max_lines: maxLines } })).data.name
    const withStopped = async (task: () => Promise<void>): Promise<void> => {
      await service.kill('SIGTERM')
      await log.kill()
      await task()
      await log.start()
    }

    await change('kept')
    await withStopped(() => cp(log.directory, `${backup}-log`, { recursive: true }))
    if (keysOn !== 'MongoDB') await succeed('backup', backup)
    await restart(service)
    await (await api()).call('changeProfile', { path: { id: seldom.id }, body: { name: 'lost' } })
    await change('lost')
    const lost = await profiles.snapshots()
    await withStopped(async () => {
      await rm(log.directory, { recursive: true })
      await cp(`${backup}-log`, log.directory, { recursive: true })
    })
    await succeed(...(keysOn === 'MongoDB' ? ['log', 'take-over'] : ['restore', backup, '--replace']))
    await succeed('restore', '--check')
    const lostRevision = Math.max(...lost.map(({ data }) => (data as { readonly revision: number }).revision))
    t.true(lost.length > 0 && lostRevision > (await profiles.length()), 'the snapshots are beyond the restored log')
    await profiles.addSnapshots(lost)
    await restart(service)
    t.is(await nameAfterCommand(often, 1), 'kept 30')
    t.is(await nameAfterCommand(seldom, 1), 'seldom')

    await change('new')
    await service.kill('SIGTERM')
    t.true(lostRevision < (await profiles.length()), 'the restored log has another event at this revision')
    await profiles.addSnapshots(lost)
    await restart(service)
    t.is(await nameAfterCommand(seldom, 2), 'seldom')
    t.is(await nameAfterCommand(often, 2), 'new 30')
    const { data: listed } = await (await api()).call('listProfiles', {})
    t.deepEqual(
      listed.filter(({ id }) => [often.id, seldom.id].includes(id)).map(({ name }) => name).toSorted(),
      ['new 30', 'seldom'],
    )
    await succeed('check')
  })
