import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { MongoClient } from 'mongodb'
import type { Client, Listing, LiveJson } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { DURABLE, startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { createDisturbances, disturbDouble } from '../../support/worlds/mongodb-elections.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const TURNS = Number(process.env['STENOLOG_TEST_TURNS'] ?? 12)
const WORKERS = 3

/** Starts a replica set of three members, and a service that reaches it through a proxy. */
const openWorld = async (t: ExecutionContext) => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(path, 'master.key')
  await writeFile(file, randomBytes(32))
  const door = await double.door('service')
  const service = await startTestService(t, { MONGO_URL: door.url('stenolog'), MASTER_KEY_FILE: file })
  return { double, door, service }
}

const untilReady = (client: Client, wanted: number): Promise<void> =>
  eventually(async () => {
    const { status } = await client.get('/health/ready')
    if (status !== wanted) throw new Error(`ready answers ${status}, not ${wanted}`)
  }, { timeoutMs: 120_000 })

const listed = async (client: Client): Promise<ReadonlyMap<number, string>> => {
  const { status, body } = await client.get<Listing<LiveJson>>('/lives/?limit=1000')
  if (status !== 200) throw new Error(`the list answers ${status}`)
  return new Map(body.data.map((live) => [live.id, live.status]))
}

test.serial('the service loses no acknowledged create or end in elections of MongoDB', async (t) => {
  t.timeout(20 * 60_000)
  const { double, service } = await openWorld(t)
  const client = await service.user('load', { max_sessions: 1_000_000 })
  const pid = service.pid()
  const disturbances = createDisturbances(disturbDouble(double, chanceOf(t).random('fate')))
  const [created, finished] = [new Set<number>(), new Set<number>()]
  let refused = 0
  const work = async (): Promise<void> => {
    while (disturbances.turns() < TURNS) {
      const live = await client.post<{ readonly data: LiveJson }>('/lives', { model: 'demo-en', language: 'en' })
      if (live.status === 503) {
        refused += 1
        continue
      }
      t.is(live.status, 200)
      const { id } = live.body.data
      created.add(id)
      disturbances.answered()
      if (id % 2 === 0) continue
      t.is((await client.put(`/lives/${id}/finish`)).status, 200)
      finished.add(id)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  await disturbances.stop()

  await untilReady(client, 200)
  await eventually(async () => {
    const statuses = await listed(client)
    const wrong = [...created].filter((id) => statuses.get(id) !== (finished.has(id) ? 'finished' : 'pending'))
    if (wrong.length > 0)
      throw new Error(
        `${wrong.length} of ${created.size} differ from the acknowledged status: ${wrong.slice(0, 5).join(' ')}`,
      )
  }, { timeoutMs: 120_000 })
  t.log(`${created.size} creates, ${finished.size} ends, ${refused} creates refused, ${disturbances.turns()} turns`)
  t.is(service.pid(), pid)
  t.deepEqual((await double.state()).weakWrites, [])
})

test.serial('a service that is cut off from MongoDB is not ready until the connection returns', async (t) => {
  t.timeout(10 * 60_000)
  const { double, door, service } = await openWorld(t)
  const client = await service.user('alice')
  const other = await new MongoClient(double.url('stenolog'), DURABLE).connect()
  t.teardown(() => other.close())
  for (const line of ['closed', 'silent'] as const) {
    await untilReady(client, 200)
    await door.line(line)
    await untilReady(client, 503)
    t.is((await client.get('/lives/')).status, 503)
    await other.db('stenolog').collection('others').insertOne({ line })
    await door.line('open')
  }
  await untilReady(client, 200)
  t.is((await client.get('/lives/')).status, 200)
})
