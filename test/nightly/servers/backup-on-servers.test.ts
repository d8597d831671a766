import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Client, Listing, LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

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
  return { service, backup: join(path, 'backup'), run, succeed }
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
