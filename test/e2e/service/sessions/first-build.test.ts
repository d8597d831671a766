import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fillWithUsers } from '../../../../bench/log-of-users.ts'
import { ensureCheckpoints } from '../../../../infrastructure/sqlite/documents/documents-schema.ts'
import { openSqliteEventStore } from '../../../../infrastructure/sqlite/event-log/event-store.ts'
import { DOCUMENTS_FILE } from '../../../../interfaces/compose/stores.ts'
import { testOnChosenStores } from '../../../support/running/skip-unless.ts'
import { issueToken, withKey } from '../../../support/service/api-tokens.ts'
import { handshake, type Json, type Listing, type LiveJson, type Single } from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'
import { eventually } from '../../../support/tools/eventually.ts'

const USERS = 1000

/** Replaces the lists by an empty file that refuses each list's second batch. Returns a function that ends this. */
const loseLists = async (dataDirectory: string): Promise<() => void> => {
  const file = join(dataDirectory, DOCUMENTS_FILE)
  for (const suffix of ['', '-wal', '-shm']) await rm(file + suffix, { force: true })
  const change = (apply: (database: DatabaseSync) => void): void => {
    const database = new DatabaseSync(file, { timeout: 10_000 })
    apply(database)
    database.close()
  }
  change((database) => {
    ensureCheckpoints(database)
    database.exec(`
      CREATE TRIGGER held BEFORE INSERT ON checkpoints
      WHEN EXISTS (SELECT 1 FROM checkpoints WHERE projection = NEW.projection)
      BEGIN SELECT raise(ABORT, 'held'); END
    `)
  })
  return () => { change((database) => { database.exec('DROP TRIGGER held') }) }
}

testOnChosenStores('while the lists are first built they say how far they are, and all else works', async (t) => {
  const service = await startTestService(t)
  const before = await service.user('ada', { max_sessions: 10 })
  const { token } = await issueToken(before)
  const [ended, open] = [await before.createLive(), await before.createLive()]
  t.is((await before.put(`/lives/${ended.id}/finish`)).status, 200)
  await service.kill('SIGTERM')
  const store = await openSqliteEventStore({ file: join(service.dataDirectory, 'events.sqlite') })
  await fillWithUsers(store, USERS, 1_000_000)
  await store.close()
  const release = await loseLists(service.dataDirectory)
  await service.start()

  const [client, admin] = [await service.logIn('ada'), await service.admin()]
  const ready = () => service.anonymous().get('/health/ready')
  await eventually(async () => { assert.match(JSON.stringify((await ready()).body), /"share":0\.[1-9]/) })
  t.is((await ready()).status, 503)
  const lists = ['/lives/', '/tokens/', '/user-live-configs/', '/users/', '/admin/lives/', '/admin/tokens/']
  for (const list of lists) {
    const { status, headers, body } = await admin.get<{ readonly detail: string }>(list)
    t.deepEqual([status, headers.get('retry-after')], [503, '30'], list)
    t.regex(body.detail, /^This list is being built from the log: [1-9]\d? % are done$/, list)
  }

  const live = await client.createLive()
  const ws = `${service.url().replace('http', 'ws')}/ws/live`
  for (const { id, listener_token: listener } of [open, live]) {
    t.is((await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data.status, 'pending')
    t.is((await handshake(`${ws}/${id}?token=${listener}`)).status, 101)
  }
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  t.is((await client.get<Single<LiveJson>>(`/lives/${ended.id}`)).body.data.status, 'finished')
  t.is((await client.get(`/lives/${live.id + 1}`)).status, 404)
  t.is((await handshake(`${ws}?token=${live.sender_token}`)).status, 503, 'without an id the list is needed')
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  await sender.closed
  const grace = await service.user('grace')
  t.is((await grace.get('/users/me')).status, 200)

  release()
  await eventually(async () => { assert.equal((await ready()).status, 200) })
  const { data, pagination } = (await client.get<Listing<LiveJson>>('/lives/')).body
  t.deepEqual(data.map(({ id, status }) => [id, status]),
    [[live.id, 'finished'], [open.id, 'pending'], [ended.id, 'finished']])
  t.is(pagination.total_items, 3)
  const totalOf = async (list: string) => (await admin.get<Listing<Json>>(list)).body.pagination.total_items
  t.is(await totalOf('/users/?limit=1'), USERS + 3)
  t.is(await totalOf('/admin/tokens/?limit=1'), USERS + 1)
  t.is(await totalOf('/admin/lives/?limit=1'), 3)
  t.is((await withKey(service.url(), token, '/users/me')).status, 200)
  t.regex(service.log(), /lists are complete/)
})
