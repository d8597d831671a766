import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { consoleFiles } from '../../../interfaces/http/console/console-files.ts'
import type { Route } from '../../../interfaces/http/route.ts'
import { ROUTES, prefixes } from '../../../interfaces/http/route-table.ts'
import { exampleResponse } from '../../../interfaces/http/errors.ts'
import { HTTP_SETTINGS, startHttp, type HttpService } from './http-service.ts'

const { build: BUILD } = await consoleFiles()

const AUDIO_URL = 'http://host/stream.m3u8'

/** Returns a valid body for the route. */
const bodyOf = (route: Route): unknown => {
  if (route.path === '/login') return new URLSearchParams({ username: 'ann', password: 'right password' })
  if (route.path === '/users/me/password') return { current_password: 'the old one', new_password: 'a new password' }
  if (route.path === '/admin/jobs') return { kind: 'check' }
  if (route.path.startsWith('/admin/')) return route.body === undefined ? undefined : { is_active: true }
  if (route.path === '/users') return { username: 'bob', password: 'long enough' }
  if (route.path === '/setup') return { token: 'good', username: 'bob', password: 'long enough' }
  if (route.path === '/lives') return { model: 'tiny', language: 'en' }
  if (/^\/(?:user-live-configs|tokens)/.test(route.path) && route.body !== undefined) return { name: 'bob' }
  return route.body === undefined ? undefined : { audio_url: AUDIO_URL }
}

const pathOf = (route: Route): string =>
  route.path.replace(/^\/$/, '').replace(':id', '7').replace(':entry', '1').replace(/\{[^}]*\}/, '')
    .replace(':build', BUILD).replace('*file', 'console/main.ts')

const callAs = (route: Route): { readonly as?: string } => (route.access === 'public' ? {} : { as: 'admin' })

const request = (http: HttpService, route: Route, path: string, method: string = route.method) =>
  http.send(method, path, {
    ...callAs(route),
    ...(bodyOf(route) === undefined || method === 'GET' || method === 'HEAD' ? {} : { body: bodyOf(route) }),
  })

const comparableHeaders = (response: Response) =>
  Object.fromEntries(
    Array.from(response.headers).filter(
      ([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name),
    ),
  )

test('every route answers equally under every prefix and with a trailing slash, without a redirect', async (t) => {
  const http = await startHttp(t, {}, { settings: { ...HTTP_SETTINGS, basePath: '/base' } })
  t.deepEqual(prefixes('/base'), ['', '/api/v1', '/base'])
  for (const route of ROUTES) {
    const forms = prefixes('/base').flatMap((prefix) => [`${prefix}${pathOf(route)}`, `${prefix}${pathOf(route)}/`])
    const answers = await Promise.all(
      forms.map(async (path) => {
        const response = await request(http, route, path)
        return { status: response.status, headers: comparableHeaders(response), body: await response.text() }
      }),
    )
    t.is(answers[0]?.status, 200, `${route.method} ${route.path}`)
    for (const answer of answers) t.deepEqual(answer, answers[0], `${route.method} ${route.path}`)
  }
})

test('every JSON answer has exactly the members that the route table declares', async (t) => {
  const http = await startHttp(t)
  for (const route of ROUTES) {
    const response = await request(http, route, pathOf(route))
    const type = response.headers.get('content-type')
    if (route.response.mediaType !== undefined) {
      t.is(type, route.response.mediaType)
      continue
    }
    t.is(type, 'application/json; charset=utf-8')
    const body: unknown = await response.json()
    const decoded = route.response.codec.decode(body)
    t.true(E.isRight(decoded), `${route.method} ${route.path}`)
    if (E.isRight(decoded))
      t.deepEqual(route.response.codec.encode(decoded.right), body, `${route.method} ${route.path}`)
  }
})

test('an unsupported method on a known path is 405, and Allow has exactly the methods of this path', async (t) => {
  const http = await startHttp(t)
  for (const path of new Set(ROUTES.map(pathOf))) {
    const allowed = ROUTES.filter((route) => pathOf(route) === path).map(({ method }) => method)
    const methods: ReadonlyArray<string> = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']
    for (const method of methods.filter((candidate) => !allowed.some((method) => method === candidate))) {
      const response = await http.send(method, `/api/v1${path}/`)
      t.is(response.status, 405, `${method} ${path}`)
      t.deepEqual(await response.json(), { detail: 'Method Not Allowed' })
      const expected = allowed.some((allowedMethod) => allowedMethod === 'GET') ? [...allowed, 'HEAD'] : allowed
      t.deepEqual(response.headers.get('allow')?.split(', '), expected.toSorted(), path)
    }
  }
})

test('an unknown path is 404', async (t) => {
  const http = await startHttp(t)
  for (const path of [
    '/nothing', '/api/v2/version', '/api', '/lives//', '//lives', '/VERSION', '/lives/7/finish/now',
    '/save_transcriptions', '/lives/..%2fusers/x',
  ]) {
    const response = await http.send('GET', path, { as: 'user' })
    t.is(response.status, 404, path)
    t.deepEqual(await response.json(), { detail: 'Not Found' })
  }
})

test('HEAD answers like GET, but without the body', async (t) => {
  const http = await startHttp(t)
  for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
    const get = await request(http, route, pathOf(route))
    const head = await request(http, route, pathOf(route), 'HEAD')
    t.deepEqual([head.status, comparableHeaders(head)], [get.status, comparableHeaders(get)], route.path)
    t.is(await head.text(), '')
  }
})

test('every private route answers 401 without valid credentials before it checks the request', async (t) => {
  const http = await startHttp(t)
  for (const route of ROUTES.filter(({ access }) => access !== 'public'))
    for (const path of [pathOf(route), `${pathOf(route)}/?limit=invalid`, route.path.replace(':id', 'x')]) {
      const body = route.method === 'GET' ? {} : { body: '{"broken' }
      const withoutCredentials = await http.send(route.method, path, body)
      t.is(withoutCredentials.status, 401, `${route.method} ${path}`)
      t.is(withoutCredentials.headers.get('www-authenticate'), 'Bearer')
      t.deepEqual(await withoutCredentials.json(), { detail: 'Not authenticated' })
      const wrongCredentials = [
        { authorization: 'Bearer nobody' },
        { authorization: 'Basic dXNlcjp4' },
        { authorization: 'Bearer' },
        { authorization: '' },
        { 'x-api-key': 'lt_x' },
        { authorization: 'Bearer nobody', 'x-api-key': 'lt_x' },
      ]
      for (const headers of wrongCredentials) {
        const wrong = await http.send(route.method, path, { ...body, headers })
        t.is(wrong.status, 401)
        t.is(wrong.headers.get('www-authenticate'), 'Bearer')
        t.deepEqual(await wrong.json(), { detail: 'Could not validate credentials' })
      }
    }
})

test('admin routes answer 403 to other users and to API keys before they check the body', async (t) => {
  const http = await startHttp(t)
  for (const route of ROUTES.filter(({ access }) => access === 'admin')) {
    const body = route.method === 'GET' ? {} : { body: '{"broken' }
    const user = await http.send(route.method, pathOf(route), { as: 'user', ...body })
    t.deepEqual([user.status, await user.json()], [403, { detail: 'Not enough permissions' }])
    const key = await http.send(route.method, pathOf(route), { as: 'lt_key', ...body })
    t.deepEqual([key.status, await key.json()], [403, { detail: 'API keys are not accepted here' }])
  }
})

test('login-only routes answer 403 to API keys in either header before they check the body', async (t) => {
  const http = await startHttp(t)
  const routes = ROUTES.filter(({ access }) => access === 'login')
  const names = ['POST /logout', 'PUT /users/me/password', 'POST /tokens', 'PUT /tokens/:id']
  t.deepEqual(
    routes.map(({ method, path }) => `${method} ${path}`),
    names,
  )
  for (const route of routes)
    for (const headers of [{ 'x-api-key': 'lt_key' }, { authorization: 'Bearer lt_key' }]) {
      const key = await http.send(route.method, pathOf(route), { headers, body: '{"broken' })
      t.deepEqual([key.status, await key.json()], [403, { detail: 'API keys are not accepted here' }])
    }
})

test('an API key opens every other private route in either header; Authorization takes precedence', async (t) => {
  const http = await startHttp(t)
  const withHeaders = async (route: Route, headers: Record<string, string>): Promise<number> =>
    (
      await http.send(route.method, pathOf(route), {
        headers,
        ...(route.body === undefined ? {} : { body: bodyOf(route) }),
      })
    ).status
  for (const route of ROUTES.filter(({ access }) => access === 'private')) {
    const name = `${route.method} ${route.path}`
    t.is(await withHeaders(route, { 'x-api-key': 'lt_key' }), 200, name)
    t.is(await withHeaders(route, { authorization: 'Bearer lt_key' }), 200, name)
    t.is(await withHeaders(route, { authorization: 'Bearer lt_key', 'x-api-key': 'bad' }), 200, name)
    t.is(await withHeaders(route, { authorization: 'Bearer bad', 'x-api-key': 'lt_key' }), 401, name)
    t.is(await withHeaders(route, { authorization: '', 'x-api-key': 'lt_key' }), 401, name)
    t.is(await withHeaders(route, { 'x-api-key': 'user' }), 401, `${name}: a JWT is not an API key`)
  }
})

test('every declared refusal of a route has an error status', (t) => {
  for (const route of ROUTES) for (const tag of route.refusals) t.true(exampleResponse(tag).status >= 400)
})
