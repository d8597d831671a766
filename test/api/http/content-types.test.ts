import test from 'ava'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { startHttp } from './http-service.ts'

const MINIMAL = { model: 'tiny', language: 'en' }

/** Content types that some programs send with a JSON body. */
const OTHER_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json-patch+json',
  'application',
  '\u00e4',
  '',
]

test('every JSON route answers 415 to a body of another content type and changes nothing', async (t) => {
  const http = await startHttp(t, {
    changeUser: () => TE.left({ _tag: 'UserNotFound' }),
    changeOwnPassword: () => TE.left({ _tag: 'WrongPassword' }),
  })
  const routes = ROUTES.filter(({ body }) => body?.kind === 'json')
  t.true(routes.length >= 12, 'the routes were found')
  const body = JSON.stringify({ is_active: false, name: 'x', ...MINIMAL })
  for (const { method, path } of routes)
    for (const type of OTHER_TYPES) {
      const answer = await http.send(method, path.replace(':id', '7'), {
        as: 'admin',
        body,
        headers: { 'content-type': type },
      })
      t.deepEqual(
        [answer.status, await answer.json()],
        [415, { detail: 'Content-Type should be application/json' }],
        `${method} ${path} ${type}`,
      )
    }
  t.deepEqual([http.calls.created, http.calls.registered], [[], []])
  t.is(
    (await http.send('POST', '/lives', { body, headers: { 'content-type': 'text/plain' } })).status,
    401,
    'credentials are checked first',
  )
  for (const type of ['application/json', 'Application/JSON; charset=utf-8'])
    t.is((await http.send('POST', '/lives', { as: 'user', body, headers: { 'content-type': type } })).status, 200, type)
})

test('a request without a body needs no content type and counts as an empty object', async (t) => {
  const http = await startHttp(t)
  t.is((await http.send('PUT', '/user-live-configs/7', { as: 'user' })).status, 200)
  t.is(
    (await http.send('PUT', '/user-live-configs/7', { as: 'user', headers: { 'content-type': 'text/plain' } })).status,
    200,
  )
  t.is(
    (await http.send('PUT', '/lives/7/finish', { as: 'user', body: 'any', headers: { 'content-type': 'text/plain' } }))
      .status,
    200,
    'this route takes no body',
  )
  t.is((await http.send('POST', '/lives', { as: 'user' })).status, 422)
})
