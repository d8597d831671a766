import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DOCUMENTS_FILE } from '../../../../interfaces/compose/stores.ts'
import { testOnChosenStores } from '../../../support/running/skip-unless.ts'
import { issueToken, withKey } from '../../../support/service/api-tokens.ts'
import { handshake, type Listing, type LiveJson, type Single } from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'

/** Makes the database refuse every write of the lists. */
const stopLists = (dataDirectory: string): void => {
  const file = new DatabaseSync(join(dataDirectory, DOCUMENTS_FILE), { timeout: 10_000 })
  file.exec("CREATE TRIGGER stopped BEFORE INSERT ON checkpoints BEGIN SELECT raise(ABORT, 'stopped'); END")
  file.close()
}

testOnChosenStores('new sessions, users, logins and API tokens work at once while no list changes', async (t) => {
  const service = await startTestService(t)
  const client = await service.user('ada', { max_sessions: 10 })
  const listed = await client.createLive()
  stopLists(service.dataDirectory)
  const ws = `${service.url().replace('http', 'ws')}/ws/live`
  const statusAt = async (path: string, token: string) => (await handshake(`${ws}${path}?token=${token}`)).status

  const live = await client.createLive({ listener_token: 'in-the-great-hall' })
  const ids = (await client.get<Listing<LiveJson>>('/lives/')).body.data.map(({ id }) => id)
  t.deepEqual(ids, [listed.id], 'the lists have stopped')
  t.like((await client.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data, { id: live.id, status: 'pending' })
  for (const path of [`/${live.id}`, '']) {
    t.is(await statusAt(path, live.sender_token), 101, `sender at ${path}`)
    t.is(await statusAt(path, live.listener_token), 101, `listener at ${path}`)
    t.is(await statusAt(path, 'x'.repeat(32)), 401, `wrong token at ${path}`)
  }
  t.is(await statusAt(`/${listed.id}`, live.sender_token), 401, 'a token of another session')
  t.is(await statusAt(`/${live.id + 1}`, live.sender_token), 401, 'a session that does not exist')
  for (const route of ['history', 'history/1', 'integrity', 'activity'])
    t.is((await client.get(`/lives/${live.id}/${route}`)).status, 200, route)
  t.is((await client.get(`/lives/${live.id + 1}`)).status, 404)

  const { token } = await issueToken(client)
  t.is((await withKey(service.url(), token, `/lives/${live.id}`)).status, 200, 'a new API token')
  const fresh = await service.user('grace')
  t.is((await fresh.get('/users/me')).status, 200, 'a new user')
  t.is((await fresh.get(`/lives/${live.id}`)).status, 404, 'a session of another user')
  const admin = await service.admin()
  t.is((await admin.get(`/admin/lives/${live.id}`)).status, 200)

  t.is((await client.request('DELETE', `/lives/${live.id}`)).status, 200)
  t.is((await client.get(`/lives/${live.id}`)).status, 404)
  for (const path of [`/${live.id}`, '']) t.is(await statusAt(path, live.sender_token), 401, `deleted, at ${path}`)
})
