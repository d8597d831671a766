import { randomBytes } from 'node:crypto'
import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Client, Listing, LiveJson } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launch } from '../../support/service/launch.ts'
import { startMongoDouble, type MongoDouble } from '../../support/doubles/mongodb/process.ts'
import { startTestService, type TestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const startDouble = async (t: ExecutionContext): Promise<MongoDouble> => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  return double
}

const masterKeyFile = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'master.key')
  await writeFile(file, randomBytes(32))
  return file
}

const startOn = async (t: ExecutionContext, double: MongoDouble): Promise<TestService> =>
  startTestService(t, { MONGO_URL: double.url('stenolog'), MASTER_KEY_FILE: await masterKeyFile(t) })

const readiness = (client: Client): Promise<number> => client.get('/health/ready').then(({ status }) => status)

const untilReady = (client: Client, wanted: number): Promise<void> =>
  eventually(async () => {
    const status = await readiness(client)
    if (status !== wanted) throw new Error(`ready answers ${status}, not ${wanted}`)
  })

const statuses = async (client: Client): Promise<ReadonlyArray<readonly [number, string]>> => {
  const { body } = await client.get<Listing<LiveJson>>('/lives/')
  return body.data.map(({ id, status }) => [id, status] as const)
}

const UNAVAILABLE = { status: 503, body: { detail: 'Service temporarily unavailable' } }

/** Asserts the answers of the service while MongoDB is unavailable. Finishes the given session. */
const assertUnavailable = async (
  t: ExecutionContext,
  service: TestService,
  alice: Client,
  live: LiveJson,
): Promise<void> => {
  await untilReady(alice, 503)
  t.like(await alice.get('/health/ready'), { status: 503, body: { checks: { readModels: 'unavailable' } } })
  // The finish comes first, because the service forgets the keys of sessions after 30 s without MongoDB.
  const begin = performance.now()
  t.is((await alice.put(`/lives/${live.id}/finish`)).status, 200)
  const finished = performance.now()
  t.like(await alice.get('/lives/'), UNAVAILABLE)
  t.like(await alice.get(`/lives/${live.id}`), UNAVAILABLE)
  const listed = performance.now()
  // These are more creates than the user may have sessions, because refused creates must not count.
  for (let create = 0; create < 5; create += 1)
    t.like(await alice.post('/lives', { model: 'demo-en', language: 'en' }), UNAVAILABLE)
  t.like(
    await (await service.admin()).post('/users/', { username: `late-${live.id}`, password: 'a long password' }),
    UNAVAILABLE,
  )
  const created = performance.now()
  t.is((await alice.get('/health/live')).status, 200)
  const ms = [(listed - finished) / 2, (created - listed) / 6, finished - begin].map((time) => Math.round(time))
  t.log(`while MongoDB was unavailable: a read took ${ms[0]} ms, a create ${ms[1]} ms, a finish ${ms[2]} ms`)
}

test.serial('without MongoDB reads and creates answer 503 until it returns, without a restart', async (t) => {
  t.timeout(180_000)
  const double = await startDouble(t)
  const service = await startOn(t, double)
  const alice = await service.user('alice', { max_sessions: 3 })
  const [first, second] = [await alice.createLive(), await alice.createLive()]
  t.is(await readiness(alice), 200)
  const pid = service.pid()

  await double.kill()
  await assertUnavailable(t, service, alice, first)
  await double.start()
  await untilReady(alice, 200)
  await alice.untilStatus(first, 'finished')

  double.freeze()
  await assertUnavailable(t, service, alice, second)
  double.thaw()
  await untilReady(alice, 200)
  await alice.untilStatus(second, 'finished')

  const others = [await alice.createLive(), await alice.createLive(), await alice.createLive()]
  t.deepEqual(await statuses(alice), [
    ...others.toReversed().map(({ id }) => [id, 'pending'] as const),
    [second.id, 'finished'],
    [first.id, 'finished'],
  ])
  t.is(service.pid(), pid)
  for (const embedded of ['documents.sqlite', 'keyring.sqlite'])
    await t.throwsAsync(access(join(service.dataDirectory, embedded)))

  // Keys and lists are in MongoDB, so a new process can open them.
  await service.kill()
  await service.start()
  const again = await service.admin()
  t.like(await again.get<Listing<{ readonly username: string }>>('/users/'), {
    status: 200,
    body: { pagination: { total_items: 2 } },
  })
})

test.serial(
  'a MongoDB that only answers handshakes is unavailable, and the service recovers without a restart',
  async (t) => {
    const double = await startDouble(t)
    const service = await startOn(t, double)
    const alice = await service.user('alice', { max_sessions: 3 })
    const pid = service.pid()
    for (const command of ['find', 'update']) await double.inject({ command, effect: 'hang', times: 1_000_000 })
    // These are more requests than the driver has connections.
    const refused = await Promise.all(Array.from({ length: 30 }, () => alice.get('/lives/')))
    for (const answer of refused) t.like(answer, UNAVAILABLE)
    await double.heal()
    await eventually(async () => {
      const { status } = await alice.get('/lives/')
      if (status !== 200) throw new Error(`the list still answers ${status}`)
    })
    const live = await eventually(() => alice.createLive())
    t.deepEqual(await statuses(alice), [[live.id, 'pending']])
    t.is(service.pid(), pid)
  },
)

test.serial('after six kills of MongoDB every acknowledged create and end is listed once', async (t) => {
  t.timeout(1_800_000)
  const double = await startDouble(t)
  const service = await startOn(t, double)
  const client = await service.user('load', { max_sessions: 1_000_000 })
  const [created, finished] = [new Set<number>(), new Set<number>()]
  let refused = 0
  const stopping = new AbortController()

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const live = await client.post<{ readonly data: LiveJson }>('/lives', { model: 'demo-en', language: 'en' })
      if (live.status === 200) created.add(live.body.data.id)
      else if (live.status === 503) refused += 1
      else throw new Error(`a create answered ${live.status}`)
      if (live.status !== 200 || live.body.data.id % 2 === 0) continue
      const end = await client.put(`/lives/${live.body.data.id}/finish`)
      if (end.status === 200) finished.add(live.body.data.id)
      else throw new Error(`an end answered ${end.status}`)
    }
  }
  const untilCreated = (more: number): Promise<void> => {
    const enough = created.size + more
    return eventually(() => {
      if (created.size < enough) throw new Error('no create succeeds')
    }, { timeoutMs: 300_000 })
  }
  const workers = Promise.all([work(), work(), work()])
  for (let round = 0; round < 6; round += 1) {
    await untilCreated(5)
    const before = refused
    await double.kill()
    await eventually(() => {
      if (refused === before) throw new Error('no request was refused yet')
    })
    await double.start()
  }
  await untilCreated(5)
  stopping.abort()
  await workers
  await untilReady(client, 200)

  const listed = await eventually(async () => {
    const { data } = (await client.get<Listing<LiveJson>>('/lives/?limit=1000')).body
    if (data.filter(({ status }) => status === 'finished').length < finished.size)
      throw new Error('not all ends are listed')
    return data
  })
  const ids = listed.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
  t.deepEqual([...created].filter((id) => !ids.includes(id)), [])
  t.deepEqual(
    listed
      .filter(({ status }) => status === 'finished')
      .map(({ id }) => id)
      .toSorted((a, b) => a - b),
    [...finished].toSorted((a, b) => a - b),
  )
  for (const status of ['pending', 'finished'])
    t.is(
      (await client.get<Listing<LiveJson>>(`/lives/?status=${status}&limit=1`)).body.pagination.total_items,
      listed.filter((live) => live.status === status).length,
    )
  t.log(`${created.size} creates and ${finished.size} ends acknowledged, ${refused} refused`)
})

test.serial('an unusable MongoDB stops the start with one message and without secrets', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = await masterKeyFile(t)
  const double = await startDouble(t)
  const cases = [
    [
      'mongodb://user:s3cret@127.0.0.1:1/stenolog',
      /^error: Stenolog cannot start: cannot connect to the MongoDB of STENOLOG_MONGO_URL: .*ECONNREFUSED.*\n$/,
    ],
    [
      'mongodb://user:s3cret@127.0.0.1/?noSuchOption=1',
      /^error: Stenolog cannot start: STENOLOG_MONGO_URL is not a valid connection string: .*\n$/,
    ],
    [
      `${double.url('x')}?replicaSet=another`,
      /^error: Stenolog cannot start: cannot connect to the MongoDB of STENOLOG_MONGO_URL: .*\n$/,
    ],
  ] as const
  for (const [url, message] of cases) {
    const service = launch(t, {
      STENOLOG_DATA_DIR: path,
      STENOLOG_PORT: '0',
      STENOLOG_MONGO_URL: url,
      STENOLOG_MASTER_KEY_FILE: file,
    })
    t.is(await service.exited, 1, url)
    t.regex(service.stderr(), message)
    t.false(service.stderr().includes('s3cret'))
    t.is(service.stdout(), '')
  }
})
