import test from 'ava'
import {
  createClient, logIn, type Json, type Listing, type LiveJson, type Single,
} from '../../../support/service/client.ts'
import { stenolog } from '../../../support/service/command-line.ts'
import { ADMIN, passwordOf, runTestService } from '../../../support/service/service.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

const MEMBERS = [
  'id',
  'username',
  'permissions',
  'max_sessions',
  'max_translations',
  'is_active',
  'created_at',
  'updated_at',
]
const NOT_VALID = { detail: 'Could not validate credentials' }

test('/users/me shows the caller with their quotas and without the password', async (t) => {
  const member = await service.user('myself', { max_sessions: 3, max_translations: 1, permissions: ['user_retention'] })
  const { status, body } = await member.get<Single<Json>>('/users/me')
  t.is(status, 200)
  t.deepEqual(Object.keys(body.data), MEMBERS)
  t.like(body.data, { username: 'myself', max_sessions: 3, max_translations: 1, is_active: true, updated_at: null })
  t.deepEqual(body.data['permissions'], ['user_retention'])
  t.is((await service.anonymous().get('/users/me')).status, 401)
})

test('an admin’s change affects only the sent members, and the next read shows it', async (t) => {
  const admin = await service.admin()
  const member = await service.user('changed')
  const { id } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body.data
  const change = (body: Json) => admin.put<Single<Json>>(`/users/${id}`, body)
  const first = await change({ max_sessions: 1 })
  t.is(first.status, 200)
  t.like(first.body.data, { id, username: 'changed', max_sessions: 1, max_translations: 5 })
  t.true(String(first.body.data['updated_at']) > String(first.body.data['created_at']))
  t.deepEqual((await change({})).body, first.body, 'an empty change has no effect')
  t.deepEqual(
    (await change({ id: 4711, username: 'root', is_admin: true })).body,
    first.body,
    'other members are ignored',
  )
  const second = await change({ permissions: ['user_retention'], max_translations: 0 })
  t.like(second.body.data, { max_sessions: 1, max_translations: 0 })
  t.deepEqual((await member.get<Single<Json>>('/users/me')).body, second.body)
  const listed = (await admin.get<Listing<Json>>('/users/?limit=1000')).body.data.find((user) => user['id'] === id)
  t.deepEqual(listed, second.body.data)

  await member.createLive()
  t.is(
    (await member.post('/lives', { model: 'demo-en', language: 'en' })).body['detail'],
    'Maximum number of sessions reached (1)',
  )
  t.is(
    (await member.post('/lives', { model: 'demo-en', language: 'en', translations: ['es'] })).body['detail'],
    'Maximum number of translations exceeded (0)',
  )
})

test('a user change validates every member, and an unknown user is 404', async (t) => {
  const admin = await service.admin()
  const bad: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    max_sessions: [-1, 1.5, '3', null],
    max_translations: [1e9],
    permissions: ['admin', ['root'], null],
    is_active: [1, null],
    password: ['short', 7, null],
  }
  for (const [member, values] of Object.entries(bad))
    for (const value of values) {
      const { status, body } = await admin.put<{ detail: ReadonlyArray<{ loc: ReadonlyArray<string> }> }>('/users/1', {
        [member]: value,
      })
      t.is(status, 422, `${member} ${JSON.stringify(value)}`)
      t.deepEqual(body.detail[0]?.loc.slice(0, 2), ['body', member])
      t.false(JSON.stringify(body).includes('short"'))
    }
  for (const id of ['4711', '0', '-1', '9007199254740993']) {
    const answer = await admin.put(`/users/${id}`, { max_sessions: 1 })
    t.is(answer.status, 404, id)
    t.deepEqual(answer.body, { detail: 'User not found' })
  }
  t.is((await admin.put('/users/abc', {})).status, 422)
})

test('a change without a JSON content type is 415 and changes nothing', async (t) => {
  const admin = await service.admin()
  const member = await service.user('declared')
  const { data } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body
  const body = JSON.stringify({ is_active: false })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
    const answer = await admin.request('PUT', `/users/${data.id}`, { body, headers: { 'content-type': type } })
    t.deepEqual([answer.status, answer.body], [415, { detail: 'Content-Type should be application/json' }], type)
  }
  t.is((await member.get('/users/me')).status, 200, 'the user is still active')
  t.is(
    (await admin.request('PUT', `/users/${data.id}`, { body, headers: { 'content-type': 'application/json' } })).status,
    200,
  )
  t.is((await member.get('/users/me')).status, 401)
})

test('only admins can change users, and users cannot raise their own privileges', async (t) => {
  const member = await service.user('climber')
  const { id } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body.data
  for (const body of [{ permissions: ['admin'] }, { max_sessions: 1000 }, 'not even an object']) {
    const answer = await member.put(`/users/${id}`, body)
    t.is(answer.status, 403)
    t.deepEqual(answer.body, { detail: 'Not enough permissions' })
  }
  t.deepEqual((await member.get<Single<Json>>('/users/me')).body.data['permissions'], [])
})

test('a password change by the user or an admin ends all earlier logins', async (t) => {
  const member = await service.user('private')
  const change = (current_password: string, new_password: string) =>
    member.put('/users/me/password', { current_password, new_password })
  const wrong = await change('not this one', 'a second password')
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body, { detail: 'Incorrect password' })
  t.is((await member.get('/users/me')).status, 200)
  for (const body of [
    {},
    { current_password: passwordOf('private') },
    { current_password: passwordOf('private'), new_password: 'short' },
  ])
    t.is((await member.put('/users/me/password', body)).status, 422)

  const changed = await change(passwordOf('private'), 'a second password')
  t.is(changed.status, 200)
  t.deepEqual(Object.keys(changed.body), ['message'])
  const old = await member.get('/users/me')
  t.is(old.status, 401)
  t.deepEqual(old.body, NOT_VALID)
  t.is((await service.anonymous().form('/login', { username: 'private', password: passwordOf('private') })).status, 401)
  const relogged = await logIn(service.url(), 'private', 'a second password')
  const { id } = (await relogged.get<Single<{ readonly id: number }>>('/users/me')).body.data

  t.is((await (await service.admin()).put(`/users/${id}`, { password: 'a third password' })).status, 200)
  t.is((await relogged.get('/users/me')).status, 401)
  t.is((await (await logIn(service.url(), 'private', 'a third password')).get('/users/me')).status, 200)
  t.false(service.log().includes('a third password'))
})

test('a deactivated user is locked out at once, and their open sessions end with token_revoked', async (t) => {
  const admin = await service.admin()
  const member = await service.user('leaver')
  const { id } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body.data
  const live = await member.createLive()
  const pending = await member.createLive()
  const [sender, listener] = [await member.socket(live, 'sender'), await member.socket(live, 'listener')]
  const deactivated = await admin.put<Single<Json>>(`/users/${id}`, { is_active: false })
  t.like(deactivated.body.data, { is_active: false, username: 'leaver' })
  for (const socket of [sender, listener]) {
    t.deepEqual(await socket.closed, { code: 4401, reason: 'token_revoked' })
    t.is((await socket.frame(({ type }) => type === 'error'))['code'], 'token_revoked')
  }
  const answer = await member.get('/lives/')
  t.is(answer.status, 401)
  t.deepEqual(answer.body, NOT_VALID)
  const login = await service.anonymous().form('/login', { username: 'leaver', password: passwordOf('leaver') })
  t.is(login.status, 401)
  t.deepEqual(login.body, { detail: 'Incorrect username or password' })

  t.is((await admin.put(`/users/${id}`, { is_active: true })).status, 200)
  const returned = await logIn(service.url(), 'leaver', passwordOf('leaver'))
  const { data } = (await returned.get<Listing<LiveJson>>('/lives/')).body
  t.deepEqual(
    data.map((item) => [item.id, item.status, item.vram]),
    [[pending.id, 'finished', 0], [live.id, 'finished', 0]],
    'the sessions are kept',
  )
  t.is((await createClient(service.url(), member.token).get('/lives/')).status, 401, 'the old login has ended')
})

test('a deleted user disappears at once with their sessions and tokens, and check finds no difference', async (t) => {
  const admin = await service.admin()
  const member = await service.user('goner')
  const { id } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body.data
  const { token } = (await member.post<Single<{ readonly token: string }>>('/tokens/', { name: 'ci' })).body.data
  const live = await member.createLive()
  const sender = await member.socket(live, 'sender')
  t.is((await member.request('DELETE', `/users/${id}`)).status, 403)
  t.like(await admin.request('DELETE', '/users/1'), {
    status: 400,
    body: { detail: 'The last administrator cannot be deleted' },
  })
  t.like(await admin.request('DELETE', `/users/${id}`), { status: 200, body: { message: 'User deleted' } })
  t.deepEqual(await sender.closed, { code: 4401, reason: 'token_revoked' })
  for (const client of [member, createClient(service.url(), token)])
    t.is((await client.get('/lives/')).status, 401)
  t.is((await service.anonymous().form('/login', { username: 'goner', password: passwordOf('goner') })).status, 401)
  t.like(await admin.request('DELETE', `/users/${id}`), { status: 404, body: { detail: 'User not found' } })
  t.is((await admin.get<Listing<Json>>(`/admin/lives?user_id=${id}`)).body.pagination.total_items, 0)
  t.false((await admin.get<Listing<Json>>('/users/?limit=1000')).body.data.some((user) => user['id'] === id))
  const namesake = await service.user('goner')
  t.true((await namesake.get<Single<{ readonly id: number }>>('/users/me')).body.data.id > id)

  const rebuilt = await stenolog(service.dataDirectory, ['rebuild', 'users', '--json'], service.stores)
  t.like(JSON.parse(rebuilt.stdout), { projection: 'users', corrected: 0 }, rebuilt.stderr)
  const checked = await stenolog(service.dataDirectory, ['check'], service.stores)
  t.is(checked.code, 0, checked.stdout)
})

test('users are listed in the common list envelope', async (t) => {
  const admin = await service.admin()
  const { body } = await admin.get<Listing<Json>>('/users/?limit=1')
  t.deepEqual(Object.keys(body), ['data', 'pagination'])
  t.is(body.data.length, 1)
  t.deepEqual(Object.keys(body.data[0] ?? {}), MEMBERS)
  t.is(body.data[0]?.['username'], ADMIN.username)
})
