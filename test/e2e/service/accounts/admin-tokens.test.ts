import test from 'ava'
import { createClient, type Client, type Json, type Listing } from '../../../support/service/client.ts'
import { runTestService } from '../../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

const issue = async (client: Client, name: string) => (await client.api.call('createToken', { body: { name } })).data

test('an administrator can list the API tokens of all users without secrets and revoke any', async (t) => {
  const admin = await service.admin()
  const [ada, bob] = [await service.user('ada'), await service.user('bob')]
  const [first, second, third] = [await issue(ada, 'one'), await issue(bob, 'two'), await issue(ada, 'three')]
  const list = async (query = ''): Promise<Listing<Json>> =>
    (await admin.get<Listing<Json>>(`/admin/tokens${query}`)).body
  const all = await list()
  t.deepEqual(
    all.data.map(({ id, username, name }) => [id, username, name]),
    [
      [third.id, 'ada', 'three'],
      [second.id, 'bob', 'two'],
      [first.id, 'ada', 'one'],
    ],
  )
  t.deepEqual(Object.keys(all.data[0] ?? {}), [
    'id',
    'name',
    'token_prefix',
    'is_active',
    'expires_at',
    'last_used_at',
    'created_at',
    'user_id',
    'username',
  ])
  t.false(JSON.stringify(all).includes(third.token))
  t.deepEqual((await list('?limit=1&skip=2')).pagination, {
    total_items: 3,
    total_pages: 3,
    current_page: 3,
    per_page: 1,
  })
  const { data: me } = await ada.api.call('getMe')
  const ofAda = await list(`?user_id=${me.id}`)
  t.deepEqual([ofAda.data.map(({ id }) => id), ofAda.pagination.total_items], [[third.id, first.id], 2])
  t.deepEqual((await list('?user_id=4711')).data, [])
  t.is((await admin.get('/admin/tokens?user_id=ada')).status, 422)

  const withKey = createClient(service.url(), third.token)
  t.is((await withKey.get('/users/me')).status, 200)
  const revoked = await admin.request('DELETE', `/admin/tokens/${third.id}`)
  t.deepEqual([revoked.status, revoked.body], [200, { message: 'Token revoked' }])
  t.is((await withKey.get('/users/me')).status, 401)
  t.deepEqual((await list()).data.map(({ id }) => id), [second.id, first.id])
  t.is((await list()).pagination.total_items, 2)
  for (const id of [third.id, 4711, 0])
    t.is((await admin.request('DELETE', `/admin/tokens/${id}`)).status, 404, String(id))
  for (const client of [bob, createClient(service.url(), first.token)]) {
    t.is((await client.get('/admin/tokens')).status, 403)
    t.is((await client.request('DELETE', `/admin/tokens/${first.id}`)).status, 403)
  }
})
