import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { right } from '../../contract/event-store-support.ts'
import type { Answer, Client, Json, Listing, LiveJson, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { serialTestOnChosenStores } from '../../support/running/skip-unless.ts'
import { launch } from '../../support/service/launch.ts'
import { passwordOf, runTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { dataOf } from '../../support/events/stored-data.ts'

const double = await startEventStoreDb()
const keys = await temporaryDirectory()
const keyFile = join(keys.path, 'master.key')
await writeFile(keyFile, randomBytes(32))
const service = await runTestService({ EVENTSTORE_URL: double.url, MASTER_KEY_FILE: keyFile, VRAM_MB: '1000000000' })
test.after.always(async () => {
  await service.dispose()
  await double.dispose()
  await keys.remove()
})

const LIVE = { model: 'demo-en', language: 'en' }

const ready = async (client: Client): Promise<Answer> => await client.get('/health/ready')

const untilReady = (client: Client): Promise<void> =>
  eventually(async () => {
    const { status, body } = await ready(client)
    if (status !== 200) throw new Error(JSON.stringify(body))
  })

const untilUnready = (client: Client): Promise<Json> =>
  eventually(async () => {
    const { status, body } = await ready(client)
    const checks = body['checks'] as Json
    if (status !== 503 || checks['eventStore'] !== 'unavailable') throw new Error(JSON.stringify(body))
    return body
  })

const create = (client: Client): Promise<LiveJson> => eventually(() => client.createLive())

let client: Client
test.before(async () => {
  client = await eventually(() => service.user('of the event store', { max_sessions: 1_000_000 }))
})

for (const [state, leave, comeBack] of [
  ['down', () => double.kill(), () => double.start()],
  ['frozen', () => Promise.resolve(double.freeze()), () => Promise.resolve(double.thaw())],
] as const)
  test.serial(`while the event store is ${state}, writes answer 503 and reads 200`, async (t) => {
    const before = await create(client)
    const admin = await service.admin()
    const pid = service.pid()
    await leave()
    const begin = performance.now()
    const times: Array<number> = []
    const timed = async (answer: Promise<Answer>): Promise<Answer> => {
      const answered = await answer
      times.push(Math.round(performance.now() - begin))
      return answered
    }
    for (const answer of await Promise.all([
      timed(client.post('/lives', LIVE)),
      timed(client.put(`/lives/${before.id}/finish`)),
      timed(admin.post('/users/', { username: `new while ${state}`, password: 'a long password' })),
    ])) {
      t.is(answer.status, 503)
      t.is(typeof answer.body['detail'], 'string')
    }
    t.is((await client.get<Single<LiveJson>>(`/lives/${before.id}`)).body.data.status, 'pending')
    t.is((await client.get('/lives')).status, 200)
    await untilUnready(client)
    t.is((await client.get('/health/live')).status, 200)

    await comeBack()
    const returnedAt = performance.now()
    await untilReady(client)
    const recovery = performance.now() - returnedAt
    const after = await create(client)
    t.true(after.id > before.id)
    await eventually(async () => {
      const { status } = await client.put(`/lives/${before.id}/finish`)
      if (status !== 200) throw new Error(`answered ${status}`)
    })
    await client.untilStatus(before, 'finished')
    t.is(service.pid(), pid)
    t.log(`503 after ${times.join(', ')} ms, recovery ${Math.round(recovery)} ms`)
  })

test.serial('a session sends text while the event store is frozen, and stores it once and in order', async (t) => {
  const admin = await service.admin()
  await admin.api.call('createUser', {
    body: { username: 'speaker', password: passwordOf('speaker'), permissions: ['user_retention'] },
  })
  const speaker = await eventually(() => service.logIn('speaker'))
  const live = await eventually(() => speaker.createLive({ live_retention: true }))
  const [sender, listener] = [await speaker.socket(live, 'sender'), await speaker.socket(live, 'listener')]
  const sentences = (await sampleSentences()).slice(0, 3)
  const finals = (): ReadonlyArray<Json> => listener.frames.filter(({ final }) => final === true)
  const speak = async (index: number): Promise<void> => {
    const before = finals().length
    sender.sendAudio(sentences[index]?.samples ?? silence(1))
    sender.sendAudio(silence(1.5))
    await eventually(() => {
      if (finals().length === before) throw new Error('no final yet')
    }, { timeoutMs: 100_000 })
  }
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  await speak(0)
  double.freeze()
  await speak(1)
  await untilUnready(speaker)
  await speak(2)
  double.thaw()
  await untilReady(speaker)
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  await listener.closed
  const texts = finals().map(({ text }) => text)
  t.true(texts.length >= 3)
  const { transcript } = (
    await speaker.get<Single<{ readonly transcript: ReadonlyArray<Json> }>>(`/lives/${live.id}/transcript`)
  ).body.data
  t.deepEqual(transcript.map(({ text }) => text), texts)
})

serialTestOnChosenStores('broken subscriptions show as lag, and the read models catch up afterwards', async (t) => {
  const lag = async (): Promise<number> => {
    const text = (await client.get<string>('/metrics')).body
    return Math.max(
      ...[...text.matchAll(/^stenolog_projection_lag_seconds\{.*\} ([\d.e+-]+)$/gm)].map(([, seconds]) =>
        Number(seconds),
      ),
    )
  }
  const listed = async (id: number): Promise<void> => {
    const { data } = (await client.get<Listing<LiveJson>>('/lives?limit=1000')).body
    if (!data.some((live) => live.id === id)) throw new Error('not listed yet')
  }
  await untilReady(client)
  t.is(await lag(), 0)
  await double.inject({ on: 'subscribe', kind: 'wrong', times: 60 })
  await double.drop()
  await eventually(async () => {
    if ((await lag()) === 0) throw new Error('the metric shows no lag')
  })
  const live = await create(client)
  await eventually(() => listed(live.id), { timeoutMs: 100_000 })
  await untilReady(client)
  const after = await create(client)
  await eventually(() => listed(after.id))
})

test.serial('after six kills of the event store every acknowledged write is stored once', async (t) => {
  t.timeout(1_800_000)
  const created = new Set<number>()
  const finished = new Set<number>()
  let refused = 0
  const stopping = new AbortController()

  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const response = await client.post<Single<LiveJson>>('/lives', LIVE)
      t.true(response.status === 200 || response.status === 503, `a create is answered ${response.status}`)
      if (response.status !== 200) {
        refused += 1
        continue
      }
      const { id } = response.body.data
      created.add(id)
      const { status } = await client.put(`/lives/${id}/finish`)
      t.true(status === 200 || status === 503, `a finish is answered ${status}`)
      if (status === 200) finished.add(id)
      else refused += 1
    }
  }
  const workers = Promise.all([work(), work(), work(), work()])
  for (let kill = 0; kill < 6; kill++) {
    const before = created.size
    await eventually(() => {
      if (created.size < before + 5) throw new Error('too few creates yet')
    }, { timeoutMs: 300_000 })
    await double.kill()
    const refusals = refused
    await eventually(() => {
      if (refused === refusals) throw new Error('nothing was refused yet')
    })
    await double.start()
  }
  stopping.abort()
  await workers
  await untilReady(client)

  const store = await openEventStoreDb({ url: double.url })
  t.teardown(store.close)
  const typesOf = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => events.map(({ type }) => type)
  const admissions = (await right(store.read('admission')))
    .filter(({ type }) => type === 'Admitted')
    .map((event) => dataOf(event)['liveId'])
  t.is(new Set(admissions).size, admissions.length, 'no session was admitted twice')
  for (const id of created) {
    const types = typesOf(await right(store.read(`live-${id}`)))
    t.is(types[0], 'LiveCreated', `session ${id}`)
    t.is(types.filter((type) => type === 'LiveCreated').length, 1)
    if (finished.has(id)) t.is(types.filter((type) => type === 'LiveFinished').length, 1, `session ${id}`)
    t.true(admissions.includes(id))
  }
  await eventually(async () => {
    const listed = (await client.get<Listing<LiveJson>>('/lives?limit=1000')).body.data
    const byId = new Map(listed.map((live) => [live.id, live.status]))
    t.deepEqual([...finished].filter((id) => byId.get(id) !== 'finished').length, 0)
  })
  t.true(finished.size > 0)
  t.log(`${created.size} creates and ${finished.size} ends acknowledged, ${refused} refused`)
})

test.serial('an unreachable event store stops the start, without an embedded store as a substitute', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const second = launch(t, {
    STENOLOG_DATA_DIR: path,
    STENOLOG_PORT: '0',
    STENOLOG_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
    STENOLOG_MASTER_KEY_FILE: keyFile,
  })
  t.is(await second.exited, 1)
  t.regex(second.stderr(), /^error: Stenolog cannot start: .*cannot connect to the event store: .*\n$/m)
  t.is(second.stdout(), '')
  t.false(existsSync(join(path, 'events.sqlite')))
})
