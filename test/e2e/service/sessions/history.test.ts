import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { isOnServers } from '../../../support/stores/chosen-stores.ts'
import { right } from '../../../contract/event-store-support.ts'
import type { Client, Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { stenolog } from '../../../support/service/command-line.ts'
import { runTestService } from '../../../support/service/service.ts'
import { dataOf } from '../../../support/events/stored-data.ts'
import { openLogOf } from '../../../support/stores/stores.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

/** A history entry, and the session as it was after this entry. */
interface Past {
  readonly entry: Json
  readonly state: Json
}

const dataAt = async <A>(client: Client, path: string): Promise<A> => (await client.get<Single<A>>(path)).body.data

/** Creates a session, sends audio and finishes it. */
const finishedLive = async (client: Client): Promise<LiveJson> => {
  const live = await client.createLive({ background_color: '000' })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio(new Int16Array(1600))
  await client.untilStatus(live, 'active')
  sender.send({ type: 'FINISH' })
  await sender.closed
  return live
}

/** Returns the state of a session after a revision from `stenolog replay`. */
const replayed = async (id: number, revision: number): Promise<Json> => {
  const { stdout } = await stenolog(
    service.dataDirectory,
    ['replay', String(id), '--at', String(revision), '--json'],
    service.stores,
  )
  return (JSON.parse(stdout) as { readonly state: Json }).state
}

test.serial('only the owner can read the history of a session, and it contains no secrets', async (t) => {
  const [client, stranger] = [await service.user('historian'), await service.user('snoop')]
  const live = await client.createLive({
    audio_format: 'hls',
    audio_url: 'https://ann:hunter2@media.example/a.m3u8?key=Wapiti',
    listener_token: 'history-token',
  })
  await client.put(`/lives/${live.id}/finish`)
  const { status, body } = await client.get<Listing<Json>>(`/lives/${live.id}/history/`)
  t.is(status, 200)
  t.deepEqual(body.pagination, { total_items: 2, total_pages: 1, current_page: 1, per_page: 100 })
  t.deepEqual(body.data.map(({ id, type }) => [id, type]), [[1, 'LiveCreated'], [2, 'LiveFinished']])
  const members = ['id', 'type', 'at', 'actor', 'correlation_id', 'causation_id', 'data']
  t.deepEqual(Object.keys(body.data[0] ?? {}), members)
  t.like(body.data[0]?.['data'], {
    live_id: live.id,
    audio_url: 'https://***@media.example/a.m3u8?key=***',
    sender_token: '***',
    listener_token: '***',
  })
  t.like(body.data[1]?.['data'], { reason: 'finish_route' })
  for (const secret of ['hunter2', 'Wapiti', live.sender_token, 'history-token'])
    t.false(JSON.stringify(body).includes(secret), secret)
  t.deepEqual(
    (await client.get<Listing<Json>>(`/lives/${live.id}/history?skip=1&limit=1`)).body.data,
    body.data.slice(1),
  )
  t.is((await client.get(`/lives/${live.id}/history?limit=0`)).status, 422)
  t.is((await stranger.get(`/lives/${live.id}/history`)).status, 404)
  t.is((await service.anonymous().get(`/lives/${live.id}/history`)).status, 401)
})

test.serial('a history entry shows its cause and the same session state as replay, with masked tokens', async (t) => {
  const client = await service.user('chronicler')
  const live = await finishedLive(client)
  const entries = (await client.get<Listing<Json>>(`/lives/${live.id}/history`)).body.data
  t.true(entries.length >= 4)
  const members = ['id', 'type', 'at', 'actor', 'correlation_id', 'causation_id', 'data']
  for (const [index, entry] of entries.entries()) {
    t.deepEqual(Object.keys(entry), members)
    t.regex(`${String(entry['correlation_id'])} ${String(entry['causation_id'])}`, /^[\w.-]{8,64} [\w.-]{8,64}$/)
    const past = await dataAt<Past>(client, `/lives/${live.id}/history/${index + 1}`)
    t.deepEqual(past.entry, entry)
    t.deepEqual([past.state['sender_token'], past.state['listener_token']], ['***', '***'])
    const replay = await replayed(live.id, index)
    t.deepEqual(
      ['id', 'status', 'vram', 'created_at', 'updated_at', 'auto_start_pid'].map((member) => past.state[member]),
      ['id', 'status', 'vram', 'createdAt', 'updatedAt', 'autoStartPid'].map((member) => replay[member]),
    )
    t.false(JSON.stringify(past).includes(live.listener_token), 'the iframe snippet has no token either')
  }
  const last = await dataAt<Past>(client, `/lives/${live.id}/history/${entries.length}`)
  t.deepEqual(Object.keys(last.state), Object.keys(live))
  for (const id of [0, -1, entries.length + 1, '99999999999999999999']) {
    const { status, body } = await client.get(`/lives/${live.id}/history/${id}`)
    t.deepEqual([status, body], [404, { detail: 'History entry not found' }], String(id))
  }
  t.is((await client.get(`/lives/${live.id}/history/first`)).status, 422)
  const stranger = await service.user('stranger')
  for (const path of ['history/1', 'integrity']) {
    const { status, body } = await stranger.get(`/lives/${live.id}/${path}`)
    t.deepEqual([status, body], [404, { detail: 'Live not found' }], path)
  }
})

test.serial(
  'the integrity report of a session shows its log positions and head hash, and finds a changed byte',
  async (t) => {
    const client = await service.user('auditor')
    const [live, other] = [await finishedLive(client), await client.createLive()]
    const integrityOf = (id: number): Promise<Json> => dataAt(client, `/lives/${id}/integrity`)
    const before = await integrityOf(live.id)
    if (isOnServers) {
      t.like(before, { status: 'unavailable', entries: 0, first_position: null, head_hash: null, damaged: [] })
      return
    }
    const { pagination } = (await client.get<Listing<Json>>(`/lives/${live.id}/history`)).body
    t.like(before, { status: 'intact', entries: pagination.total_items, damaged: [] })
    t.true(Number(before['first_position']) > 0 && Number(before['first_position']) < Number(before['last_position']))
    t.regex(String(before['head_hash']), /^[0-9a-f]{64}$/)
    const database = new DatabaseSync(join(service.dataDirectory, 'events.sqlite'), { timeout: 5000 })
    const flip =
      "UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu') WHERE rev = 1 " +
      'AND sid = (SELECT sid FROM streams WHERE name = ?)'
    t.is(Number(database.prepare(flip).run(`live-${live.id}`).changes), 1)
    database.close()
    const after = await integrityOf(live.id)
    t.like(after, { status: 'damaged', entries: pagination.total_items })
    t.deepEqual(after['damaged'], [{ id: 2, reason: 'its content does not match its hash' }])
    t.is((await integrityOf(other.id))['status'], 'intact')
  },
)

test.serial('an administrator can view any session without its secrets, and each view is recorded', async (t) => {
  const [admin, owner] = [await service.admin(), await service.user('watched')]
  const live = await owner.createLive({ audio_format: 'hls', audio_url: 'https://example.com/secret-path.m3u8' })
  const path = `/admin/lives/${live.id}`
  const shown = await dataAt<Json>(admin, path)
  t.like(shown, { id: live.id, username: 'watched', status: 'pending' })
  const [listed] = (await admin.get<Listing<Json>>('/admin/lives?limit=1')).body.data
  t.deepEqual(shown, listed)
  const history = (await admin.get<Listing<Json>>(`${path}/history`)).body
  t.deepEqual(history.data.map(({ type }) => type), ['LiveCreated'])
  const past = await dataAt<Past>(admin, `${path}/history/1`)
  t.deepEqual(past, { entry: history.data[0] ?? {}, state: shown })
  t.is((await dataAt<Json>(admin, `${path}/integrity`))['status'], isOnServers ? 'unavailable' : 'intact')
  const answers = JSON.stringify([shown, history, past])
  for (const secret of [live.sender_token, live.listener_token, 'secret-path'])
    t.false(answers.includes(secret), secret)
  t.is((await admin.get(`${path}/history/2`)).status, 404)
  for (const unknown of [
    '/admin/lives/4711',
    '/admin/lives/0/history',
    '/admin/lives/-1/integrity',
    '/admin/lives/4711/history/1',
  ])
    t.deepEqual((await admin.get(unknown)).body, { detail: 'Live not found' }, unknown)
  t.is((await owner.get(path)).status, 403)

  await service.kill('SIGTERM')
  const store = await openLogOf(service)
  const views = (await right(store.read('administration'))).filter(({ type }) => type === 'LiveViewed')
  t.deepEqual(views.map((event) => [dataOf(event)['liveId'], dataOf(event)['view']]),
    ['live', 'history', 'entry', 'integrity'].map((view) => [live.id, view]), 'refused requests are not recorded')
  t.deepEqual([...new Set(views.map(({ metadata }) => metadata.actor))], ['user:1'])
  await store.close()
})
