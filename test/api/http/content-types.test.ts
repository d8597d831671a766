import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
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
  'application/json; charset=utf-16; x',
  'application/json; x; charset=utf-8',
  'application/json; charset="utf-16',
  'application/json; "charset=utf-16"',
  'application',
  '\u00e4',
  '',
]

test('every JSON route answers 415 to a body of another content type and changes nothing', async (t) => {
  const http = await startHttp(t, {
    changeUser: async () => E.left({ _tag: 'UserNotFound' }),
    changeOwnPassword: async () => E.left({ _tag: 'WrongPassword' }),
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

const outcome = async (answer: Response): Promise<unknown> => [answer.status, await answer.json()]

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const NOT_UTF8 = { detail: [{ type: 'string_unicode', loc: ['body'], msg: 'Body should be valid UTF-8' }] }

test('a body that is not UTF-8 is refused, and one that is arrives unchanged', async (t) => {
  const received: Array<readonly [string, string]> = []
  const http = await startHttp(t, {
    logIn: async (username, password) => {
      received.push([username, password])
      return E.left({ _tag: 'WrongLogin' })
    },
  })
  const create = (name: Buffer, type = 'application/json') => http.send('POST', '/users', {
    as: 'admin',
    body: Buffer.concat([Buffer.from('{"password":"long enough","username":"'), name, Buffer.from('"}')]),
    headers: { 'content-type': type },
  })
  const login = (body: string | Buffer, type = FORM_TYPE['content-type']) =>
    http.send('POST', '/login', { body: Buffer.from(body), headers: { 'content-type': type } })

  const broken = [[0xe9], [0xc0, 0xaf], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]]
  for (const bytes of broken.map((sequence) => Buffer.from(sequence))) {
    t.deepEqual(await outcome(await create(bytes)), [422, NOT_UTF8], bytes.toString('hex'))
    t.deepEqual(await outcome(await login(Buffer.concat([Buffer.from('username=caf'), bytes]))), [422, NOT_UTF8])
    const escaped = bytes.toString('hex').replaceAll(/../g, '%$&')
    t.deepEqual(await outcome(await login(`username=caf${escaped}&password=x`)), [422, NOT_UTF8], escaped)
  }
  const CHARSET = { detail: 'The charset in Content-Type should be utf-8' }
  for (const charset of ['iso-8859-1', 'latin1', 'utf-16', '"windows-1252"', 'utf-16; x="y;"', 'utf-16;']) {
    const json = await create(Buffer.from('caf'), `application/json; charset=${charset}`)
    t.deepEqual(await outcome(json), [415, CHARSET])
    const form = await login('username=a&password=b', `${FORM_TYPE['content-type']}; charset=${charset}`)
    t.deepEqual(await outcome(form), [415, CHARSET])
  }
  t.deepEqual([http.calls.registered, received], [[], []])

  const types = ['charset=UTF-8', 'charset="utf-8"', '', 'x="a; charset=b"; charset=utf8', 'x="\\""; ; y=z ;']
  for (const type of types.map((parameters) => `application/json; ${parameters}`))
    t.is((await create(Buffer.from('caf\u00e9 \ufffd \u{1f600}'), type)).status, 200, type)
  const created = http.calls.registered.map(({ user }) => user.username)
  t.deepEqual(created, types.map(() => 'café \ufffd 😀'))
  await login('username=caf%C3%A9+%EF%BF%BD%20%f0%9f%98%80&password=100%+sure%2')
  await login('username=caf\u00e9&password=a=b')
  t.deepEqual(received, [['café \ufffd 😀', '100% sure%2'], ['café', 'a=b']])
})

test('a login keeps a name that a new user could not have', async (t) => {
  const names: string[] = []
  const http = await startHttp(t, {
    logIn: async (username) => {
      names.push(username)
      return E.right('a.jwt.token')
    },
  })
  const old = [' x ', '\u202eabc', 'a\0b', 'a\u200bb']
  for (const username of old) {
    const body = new URLSearchParams({ username, password: 'short' })
    t.is((await http.send('POST', '/login', { body })).status, 200)
  }
  t.deepEqual(names, old)
})

test('a login that is not a form is refused with the reason, as missing fields', async (t) => {
  const http = await startHttp(t)
  const body = JSON.stringify({ username: 'ann', password: 'right password' })
  const msg = 'Field required in a form: Content-Type should be application/x-www-form-urlencoded'
  const detail = ['username', 'password'].map((name) => ({ type: 'missing', loc: ['body', name], msg }))
  const malformed = 'application/x-www-form-urlencoded; charset=utf-16; x'
  for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain', malformed, ''])
    t.deepEqual(
      await outcome(await http.send('POST', '/login', { body, headers: { 'content-type': type } })),
      [422, { detail }],
      type,
    )
  const missing = ['username', 'password'].map((name) =>
    ({ type: 'missing', loc: ['body', name], msg: 'Field required' }))
  for (const form of [undefined, new URLSearchParams()])
    t.deepEqual(await outcome(await http.send('POST', '/login', { body: form })), [422, { detail: missing }])
})

test('JSON that is not an object is refused as such, and is not called malformed', async (t) => {
  const http = await startHttp(t)
  const refused = async (body: string) => outcome(await http.send('POST', '/lives', { as: 'user', body }))
  const notAnObject = { type: 'dict_type', loc: ['body'], msg: 'Input should be a valid dictionary' }
  for (const body of ['null', '"x"', '5', 'true', '[]', ' null '])
    t.deepEqual(await refused(body), [422, { detail: [notAnObject] }], body)
  const malformed = { type: 'json_invalid', loc: ['body'], msg: 'JSON decode error' }
  for (const body of ['{', ' ', 'nul', "{'a':1}", '{"a":NaN}', '\u0000'])
    t.deepEqual(await refused(body), [422, { detail: [malformed] }], body)
  const nested = `{"config":${'['.repeat(40)}${']'.repeat(40)}}`
  const deep = { type: 'json_invalid', loc: ['body'], msg: 'JSON should have at most 32 levels' }
  t.deepEqual(await refused(nested), [422, { detail: [deep] }])
})

test('a compressed body is read in the encodings that the description names, and in no other', async (t) => {
  const http = await startHttp(t)
  const text = JSON.stringify(MINIMAL)
  const send = (body: string | Buffer, encoding: string) =>
    http.send('POST', '/lives', { as: 'user', body, headers: { ...JSON_TYPE, 'content-encoding': encoding } })
  const compressed = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text), identity: text }
  for (const [encoding, body] of Object.entries(compressed)) {
    t.is((await send(body, encoding)).status, 200, encoding)
    t.is((await send(body, encoding.toUpperCase())).status, 200, `${encoding} in upper case`)
  }
  const others = { zstd: zstdCompressSync(text), foo: text, 'x-gzip': gzipSync(text) }
  for (const [encoding, body] of Object.entries(others)) {
    const answer = await send(body, encoding)
    t.is(answer.headers.get('accept-encoding'), 'gzip, deflate, br')
    t.deepEqual(await outcome(answer), [415, { detail: 'Content-Encoding should be gzip, deflate or br' }], encoding)
  }
  const msg = 'Value error, body should have the length and the encoding that its headers name'
  for (const encoding of ['gzip', 'deflate', 'br'])
    t.deepEqual(await outcome(await send(text, encoding)), [
      422, { detail: [{ type: 'value_error', loc: ['body'], msg }] },
    ], encoding)
  t.is((await send(gzipSync('x'.repeat(2 ** 20)), 'gzip')).status, 413)
})
