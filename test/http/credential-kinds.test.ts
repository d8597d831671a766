import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startHttp } from './http-service.ts'

const PASSWORDS = { current_password: 'the old one', new_password: 'a new password' }

test('D32, S23: an API key changes no password and administers nothing, even that of an administrator', async (t) => {
  const http = await startHttp(t)
  const routes = [
    ['PUT', '/users/me/password'], ['PUT', '/users/1'], ['GET', '/admin/lives'], ['PUT', '/admin/lives/7/finish'], ['PUT', '/admin/models/1'],
    ['PUT', '/admin/languages/1'], ['PUT', '/admin/translations/1'], ['POST', '/admin/rescan'],
  ] as const
  for (const [method, path] of routes) {
    const answer = await http.send(method, path, { as: 'lt_key', ...(method === 'PUT' ? { body: {} } : {}) })
    t.is(answer.status, 403, path)
    t.deepEqual(await answer.json(), { detail: 'API keys are not accepted here' }, path)
  }
  t.is((await http.send('GET', '/users/me', { as: 'lt_key' })).status, 200)
})

test('D32: every user changes the own password with a login, no permission is needed', async (t) => {
  const http = await startHttp(t)
  const answer = await http.send('PUT', '/users/me/password', { as: 'user', body: PASSWORDS })
  t.is(answer.status, 200)
  t.deepEqual(await answer.json(), { message: 'Password changed; log in again' })
})

test('D14, S13, S24: who has to wait is told for how long', async (t) => {
  const http = await startHttp(t, {
    login: async () => E.left({ _tag: 'TooManyRequests', seconds: 64 }),
    changeOwnPassword: () => TE.left({ _tag: 'TooBusy' }),
  })
  const login = await http.send('POST', '/login', { body: new URLSearchParams({ username: 'ann', password: 'x' }) })
  t.deepEqual([login.status, login.headers.get('retry-after'), await login.json()], [429, '64', { detail: 'Too many requests' }])
  const busy = await http.send('PUT', '/users/me/password', { as: 'user', body: PASSWORDS })
  t.deepEqual([busy.status, busy.headers.get('retry-after')], [429, '1'])
})
