import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { logIn } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { launch, type Launched } from '../../support/service/launch.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { ADMIN, prefixed } from '../../support/service/service.ts'
import { openLogOf } from '../../support/stores/stores.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

type Settings = Readonly<Record<string, string>>

const folder = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

/** Starts an EventStoreDB and two MongoDB servers. Returns settings that use them, with a master key. */
const servers = async (t: ExecutionContext) => {
  const file = join(await folder(t), 'master.key')
  await writeFile(file, randomBytes(32))
  const [log, lists, otherLists] = [await startEventStoreDb(), await startMongoDouble(), await startMongoDouble()]
  for (const { dispose } of [log, lists, otherLists]) t.teardown(dispose)
  const onLog = { EVENTSTORE_URL: log.url, MASTER_KEY_FILE: file }
  return {
    log,
    lists,
    onLog,
    onBoth: { ...onLog, MONGO_URL: lists.url('stenolog') },
    elsewhere: { ...onLog, MONGO_URL: otherLists.url('stenolog') },
  }
}

/** Starts a service in a data directory. */
const startIn = (t: ExecutionContext, dataDirectory: string, settings: Settings): Launched =>
  launch(t, prefixed({
    DATA_DIR: dataDirectory, PORT: '0', LEASE_TTL: '3s', DRAIN_TIMEOUT: '0s',
    ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password, ...settings,
  }))

const endOf = async (settings: Settings): Promise<string> => {
  const store = await openLogOf({ dataDirectory: '', stores: settings })
  const head = await store.head()
  await store.close()
  if (head._tag === 'Left') throw new Error(head.left.reason)
  return head.right
}

/** Asserts that a process is refused and appends nothing. */
const assertRefused = async (
  t: ExecutionContext,
  run: Launched,
  settings: Settings,
  message: RegExp,
): Promise<void> => {
  const before = await endOf(settings)
  t.is(await run.exited, 1, run.stdout())
  t.regex(run.stderr(), message)
  t.is(run.stdout(), '')
  t.is(await endOf(settings), before)
}

test.serial('without MongoDB a log belongs to one data directory until another takes it over', async (t) => {
  t.timeout(300_000)
  const { onLog } = await servers(t)
  const [here, there] = [await folder(t), await folder(t)]
  const first = startIn(t, here, onLog)
  await first.url()
  const refused = new RegExp(
    '^error: Stenolog cannot start: the log of the event store belongs to another data directory, ' +
      String.raw`used by "node-[0-9a-f]{16}" \(process \d+ on \S+, since [^)]+\)\. .*stenolog log take-over.*\n$`,
    'm',
  )
  await assertRefused(t, startIn(t, there, onLog), onLog, refused)
  await assertRefused(t, startIn(t, there, { ...onLog, NODE_NAME: 'another' }), onLog, refused)
  const tool = await stenolog(there, ['users', 'list'], onLog)
  t.is(tool.code, 1)
  t.regex(tool.stderr, refused)

  // The refusal continues after a kill of the first process, because the others cannot know that it is dead.
  first.kill('SIGKILL')
  await first.exited
  await assertRefused(t, startIn(t, there, onLog), onLog, refused)
  const again = startIn(t, here, { ...onLog, NODE_NAME: 'renamed' })
  await again.url()

  // The process whose log was taken over ends.
  const taken = await stenolog(there, ['log', 'take-over'], onLog)
  t.is(taken.code, 0, taken.stderr)
  t.is(await again.exited, 1)
  t.regex(
    again.stderr(),
    /^error: Stenolog stops: the process "node-[0-9a-f]{16}" .* has taken over the log of the event store$/m,
  )
  await assertRefused(t, startIn(t, here, onLog), onLog, /belongs to another data directory/)
})

test.serial('on both servers a process with a new name joins, and a used name is refused', async (t) => {
  t.timeout(300_000)
  const { onBoth, elsewhere } = await servers(t)
  const [here, there] = [await folder(t), await folder(t)]
  const first = startIn(t, here, { ...onBoth, NODE_NAME: 'alpha' })
  await first.url()
  const refused = new RegExp(
    String.raw`^error: Stenolog cannot start: MongoDB is in use by the process "alpha"\. ` +
      String.raw`Stop that process: with an embedded event log only one process may run\n$`,
    'm',
  )
  const nameTaken = new RegExp(
    '^error: Stenolog cannot start: the name of this process is taken by ' +
      String.raw`"alpha" \(process \d+ on \S+, since [^)]+\): ` +
      String.raw`stop that process, or set a different STENOLOG_NODE_NAME\n$`,
    'm',
  )
  await assertRefused(t, startIn(t, there, { ...onBoth, NODE_NAME: 'alpha' }), onBoth, nameTaken)
  await assertRefused(
    t,
    startIn(t, there, { ...onBoth, NODE_NAME: 'beta', LEASE_TTL: '4s' }),
    onBoth,
    /LEASE_TTL is 4000 ms here and 3000 ms in the process "alpha"/,
  )
  // A process with another MongoDB is refused.
  await assertRefused(
    t,
    startIn(t, there, elsewhere),
    onBoth,
    /the log of the event store belongs to the processes of another MongoDB, such as "alpha"/,
  )
  // A process with an embedded log is refused.
  await assertRefused(
    t,
    startIn(t, there, { MONGO_URL: onBoth.MONGO_URL, MASTER_KEY_FILE: onBoth.MASTER_KEY_FILE }),
    onBoth,
    refused,
  )
  const tool = await stenolog(there, ['rebuild', 'lives'], onBoth)
  t.is(tool.code, 1)
  t.regex(tool.stderr, /LEASE_TTL is 5000 ms here and 3000 ms in the process "alpha"/)

  // Both processes serve, and the end of one does not affect the other.
  const beta = startIn(t, await folder(t), { ...onBoth, NODE_NAME: 'beta' })
  await logIn(await beta.url(), ADMIN.username, ADMIN.password)
  beta.kill('SIGTERM')
  t.is(await beta.exited, 0, beta.stderr())

  first.kill('SIGKILL')
  await first.exited
  const second = startIn(t, here, { ...onBoth, NODE_NAME: 'alpha' })
  await second.url()
  t.notRegex(second.stderr(), /waiting to see/)

  second.kill('SIGKILL')
  await second.exited
  const third = startIn(t, there, { ...onBoth, NODE_NAME: 'alpha' })
  await third.url()
  t.regex(third.stderr(), /waiting to see whether another process that uses MongoDB is running/)

  // After a clean stop the next start does not wait.
  third.kill('SIGTERM')
  t.is(await third.exited, 0, third.stderr())
  const fourth = startIn(t, here, { ...onBoth, NODE_NAME: 'beta' })
  await fourth.url()
  t.notRegex(fourth.stderr(), /waiting to see/)
})

test.serial('when two processes start at once on a log without MongoDB, one is refused', async (t) => {
  t.timeout(300_000)
  const { onLog } = await servers(t)
  const start = async () => startIn(t, await folder(t), onLog)
  const both = await Promise.all([start(), start()])
  const loser = await Promise.race(both.map((run) => run.exited.then(() => run)))
  t.regex(loser.stderr(), /^error: Stenolog cannot start: the log of the event store belongs to/m)
  for (const run of both) if (run !== loser) await run.url()
})

test.serial('when two processes start at once on both servers, both join', async (t) => {
  t.timeout(300_000)
  const { onBoth } = await servers(t)
  const start = async () => startIn(t, await folder(t), onBoth)
  const both = await Promise.all([start(), start()])
  await Promise.all(both.map(async (run) => logIn(await run.url(), ADMIN.username, ADMIN.password)))
  t.pass()
})

test.serial('a frozen process that was replaced ends as soon as it wakes', async (t) => {
  t.timeout(300_000)
  const { onBoth } = await servers(t)
  const [here, there] = [await folder(t), await folder(t)]
  const name = 'alpha'
  const first = startIn(t, here, { ...onBoth, NODE_NAME: name })
  const client = await logIn(await first.url(), ADMIN.username, ADMIN.password)
  first.kill('SIGSTOP')
  const second = startIn(t, there, { ...onBoth, NODE_NAME: name })
  await second.url()
  // The requests wait in the socket of the frozen process. It may still serve some of them before it ends.
  const waiting = Array.from({ length: 20 }, () => client.createLive().then(() => true, () => false))
  first.kill('SIGCONT')
  t.is(await first.exited, 1)
  t.log(
    `${(await Promise.all(waiting)).filter(Boolean).length} of 20 creates were done by the replaced process`,
  )
  t.regex(first.stderr(), /^error: Stenolog stops: the process "alpha" .* has taken its place in MongoDB$/m)
  await eventually(async () => {
    const { status } = await fetch(`${await second.url()}/health/ready`)
    if (status !== 200) throw new Error(`ready answers ${status}`)
  })
})
