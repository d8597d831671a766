import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Caller } from '../../../application/caller.ts'
import { tokenView, userView } from './example-views.ts'
import { startHttp, type StubbedServices } from './http-service.ts'

const PASSWORDS = { current_password: 'the old one', new_password: 'a new password' }

test('even an administrator’s API key cannot change a password or use admin routes', async (t) => {
  const http = await startHttp(t)
  const routes = [
    ['POST', '/logout'],
    ['PUT', '/users/me/password'],
    ['PUT', '/users/1'],
    ['GET', '/admin/lives'],
    ['GET', '/admin/lives/7'],
    ['GET', '/admin/tokens'],
    ['GET', '/admin/load'],
    ['GET', '/admin/jobs'],
    ['GET', '/admin/jobs/7'],
    ['DELETE', '/admin/jobs/7'],
    ['POST', '/admin/jobs'],
    ['DELETE', '/admin/tokens/7'],
    ['GET', '/admin/lives/7/history'],
    ['GET', '/admin/lives/7/history/1'],
    ['GET', '/admin/lives/7/integrity'],
    ['PUT', '/admin/lives/7/finish'],
    ['PUT', '/admin/models/1'],
    ['GET', '/admin/models'],
    ['DELETE', '/admin/models/1'],
    ['GET', '/admin/translations'],
    ['DELETE', '/admin/translations/1'],
    ['PUT', '/admin/languages/1'],
    ['PUT', '/admin/translations/1'],
    ['POST', '/admin/rescan'],
  ] as const
  for (const [method, path] of routes) {
    const answer = await http.send(method, path, { as: 'lt_key', ...(method === 'PUT' ? { body: {} } : {}) })
    t.is(answer.status, 403, path)
    t.deepEqual(await answer.json(), { detail: 'API keys are not accepted here' }, path)
  }
  t.is((await http.send('GET', '/users/me', { as: 'lt_key' })).status, 200)
})

test('every user can change their own password with a login and without a permission', async (t) => {
  const http = await startHttp(t)
  const answer = await http.send('PUT', '/users/me/password', { as: 'user', body: PASSWORDS })
  t.is(answer.status, 200)
  t.deepEqual(await answer.json(), { message: 'Password changed; log in again' })
})

test('the operator can act for a user only on tokens and only through the control socket', async (t) => {
  const issuers: Array<Pick<Caller, 'userId' | 'credential' | 'permissions'>> = []
  const listed: Array<number> = []
  const services: Partial<StubbedServices> = {
    whoAmI: async ({ userId }) => (userId === 7 ? E.right(userView(7, 'ann')) : E.left({ _tag: 'UserNotFound' })),
    listTokens: async (userId) => {
      listed.push(userId)
      return E.right({ items: [], total: 0 })
    },
    issueToken: async ({ userId, credential, permissions }) => {
      issuers.push({ userId, credential, permissions })
      return E.right({ token: tokenView(7), secret: 'secret' })
    },
  }
  const headers = (id: string) => ({ headers: { 'x-on-behalf-of': id } })
  const control = await startHttp(t, services, { isControl: true })
  const issue = { body: { name: 'ci' } }
  t.is((await control.send('GET', '/tokens/', headers('7'))).status, 200)
  t.is((await control.send('POST', '/tokens/', { ...issue, ...headers('7') })).status, 200)
  for (const unknownUser of ['8', '999999999999999'])
    t.is((await control.send('GET', '/tokens/', headers(unknownUser))).status, 404, unknownUser)
  for (const unnamed of ['', '0', '-7', '7x', '7, 7'])
    t.is((await control.send('GET', '/tokens/', headers(unnamed))).status, 401, unnamed)
  for (const path of ['/users/me', '/lives/', '/lives/7', '/user-live-configs/'])
    t.is((await control.send('GET', path, headers('7'))).status, 401, path)

  const publicPort = await startHttp(t, services)
  t.is((await publicPort.send('GET', '/tokens/', headers('7'))).status, 401)
  t.is((await publicPort.send('GET', '/tokens/', { as: 'admin', ...headers('7') })).status, 200)
  t.is((await publicPort.send('POST', '/tokens/', { as: 'admin', ...issue, ...headers('7') })).status, 200)
  t.deepEqual(listed, [7, 1])
  t.deepEqual(issuers, [
    { userId: 7, credential: 'operator', permissions: [] },
    { userId: 1, credential: 'jwt', permissions: ['admin'] },
  ])
})

test('a 429 answer contains Retry-After', async (t) => {
  const http = await startHttp(t, {
    logIn: async () => E.left({ _tag: 'TooManyRequests', seconds: 64 }),
    changeOwnPassword: async () => E.left({ _tag: 'TooBusy' }),
  })
  const login = await http.send('POST', '/login', { body: new URLSearchParams({ username: 'ann', password: 'x' }) })
  t.deepEqual(
    [login.status, login.headers.get('retry-after'), await login.json()],
    [429, '64', { detail: 'Too many requests' }],
  )
  const busy = await http.send('PUT', '/users/me/password', { as: 'user', body: PASSWORDS })
  t.deepEqual([busy.status, busy.headers.get('retry-after')], [429, '1'])
})

test('credentials that cannot be checked at the moment are answered with 503, not 401', async (t) => {
  const unavailable = { _tag: 'DocumentsUnavailable', reason: 'the read model is behind' } as const
  const undecided: Partial<StubbedServices> = {
    authenticate: async () => E.left(unavailable),
    authenticateKey: async () => E.left(unavailable),
    whoAmI: async () => E.left(unavailable),
    logIn: async () => E.left(unavailable),
    isSetUp: async () => E.left(unavailable),
  }
  const http = await startHttp(t, undecided)
  const login = { body: new URLSearchParams({ username: 'ann', password: 'right password' }) }
  const answers = [
    await http.send('GET', '/users/me', { as: 'user' }),
    await http.send('GET', '/lives/', { as: 'lt_key' }),
    await http.send('GET', '/lives/', { headers: { 'x-api-key': 'lt_key' } }),
    await http.send('POST', '/login', login),
    await http.send('GET', '/setup'),
    await (
      await startHttp(t, undecided, { isControl: true })
    ).send('GET', '/tokens/', { headers: { 'x-on-behalf-of': '7' } }),
  ]
  for (const answer of answers) {
    t.is(answer.status, 503, answer.url)
    t.deepEqual(Object.keys((await answer.json()) as object), ['detail'])
  }
})
