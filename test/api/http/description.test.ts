import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { describeSocket } from '../../../interfaces/description/asyncapi.ts'
import { describeInterface } from '../../../interfaces/description/openapi.ts'
import { exampleResponse } from '../../../interfaces/http/errors.ts'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { privateRoute, publicRoute } from '../../../interfaces/http/route.ts'
import { serverAddresses } from '../../../interfaces/http/clients/links.ts'
import { generateClient } from '../../../tools/client/generate.ts'
import { HTTP_SETTINGS, startHttp } from './http-service.ts'

interface Media {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<object>
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<
    Record<string, { readonly headers: object; readonly content: Readonly<Record<string, Media>> }>
  >
}

interface OpenApi {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: object }
}

const DOCUMENT = describeInterface(ROUTES) as unknown as OpenApi
const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)

test('the WebSocket description is valid AsyncAPI 3.0', (t) => {
  const require = createRequire(import.meta.url)
  const schema = require('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false })
  addFormats.default(ajv)
  for (const addresses of [[], ['/'], ['https://captions.example/steno', 'http://127.0.0.1:8080']]) {
    const isValid = ajv.validate(schema, describeSocket(addresses))
    t.true(isValid, JSON.stringify(ajv.errors?.slice(0, 3)))
  }
  const { servers } = describeSocket(['/', 'https://captions.example/steno'])
  t.like(servers, { server2: { host: 'captions.example', protocol: 'wss', pathname: '/steno' } })
})

test('every operation is Public or Private; private ones declare credentials, 401 and, with an id, 404', (t) => {
  for (const { name, operation } of OPERATIONS) {
    const isPrivate = operation.tags[0] === 'Private'
    t.deepEqual(operation.tags, [isPrivate ? 'Private' : 'Public'], name)
    t.deepEqual(operation.security[0] ?? null, isPrivate ? { bearer: [] } : null, name)
    t.is('401' in operation.responses, isPrivate || ['login', 'getMetrics'].includes(operation.operationId), name)
    // The embed page is equal for every id, so it declares no 404.
    if (name.includes('{id}') && name !== 'GET /embed/live/{id}') t.true('404' in operation.responses, name)
  }
})

test('exactly the described credentials open a route', async (t) => {
  const http = await startHttp(t, { changeOwnPassword: async () => E.right(undefined) })
  const credentials = { bearer: { authorization: 'Bearer admin' }, apiKey: { 'x-api-key': 'lt_key' } } as const
  for (const { name, operation } of OPERATIONS) {
    const [method = '', path = ''] = name.replace('{id}', '7').split(' ')
    const opens = async (headers: Readonly<Record<string, string>>): Promise<boolean> => {
      const { status } = await http.send(method, path, { headers })
      return operation.operationId === 'login' || operation.operationId === 'completeSetup'
        ? status === 422
        : status !== 401 && status !== 403
    }
    const offered = new Set(operation.security.flatMap((scheme) => Object.keys(scheme)))
    t.is(await opens({}), offered.size === 0, name)
    for (const [scheme, headers] of Object.entries(credentials))
      t.is(await opens(headers), offered.size === 0 || offered.has(scheme), `${name} by ${scheme}`)
    t.is(
      '403' in operation.responses && JSON.stringify(operation.responses['403']).includes('API keys'),
      offered.size > 0 && !offered.has('apiKey'),
      name,
    )
  }
})

test('every route except page files has its own operation id and summary', (t) => {
  const isFile = (mediaType: string | undefined): boolean => /^text\/(javascript|css)/.test(mediaType ?? '')
  const described = ROUTES.filter(({ response }) => !isFile(response.mediaType))
  for (const { method, path, operationId, summary } of described)
    t.truthy(operationId !== undefined && summary, `${method} ${path} has no operationId or summary`)
  t.deepEqual(
    OPERATIONS.map(({ name }) => name).toSorted(),
    described.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`).toSorted(),
  )
  t.is(new Set(OPERATIONS.map(({ operation }) => operation.operationId)).size, OPERATIONS.length)
})

test('creating a session declares every possible refusal and its headers', (t) => {
  const create = OPERATIONS.find(({ name }) => name === 'POST /lives')
  const headers = Object.entries(create?.operation.responses ?? {}).map(([status, response]) => [
    Number(status),
    Object.keys(response.headers).slice(2),
  ])
  t.deepEqual(headers, [
    [200, []],
    [401, ['WWW-Authenticate']],
    [403, []],
    [404, []],
    [409, []],
    [413, []],
    [415, ['Accept-Encoding']],
    [422, []],
    [429, ['Retry-After']],
    [500, []],
    [503, ['Retry-After']],
  ])
})

test('the description declares every refusal of access checks and handlers', (t) => {
  for (const { operationId, refusals, access } of ROUTES.filter((route) => route.operationId !== undefined)) {
    const found = OPERATIONS.find(({ operation }) => operation.operationId === operationId)
    const declared = new Set(Object.keys(found?.operation.responses ?? {}))
    for (const tag of refusals) t.true(declared.has(String(exampleResponse(tag).status)), `${operationId} ${tag}`)
    if (access === 'admin') t.true(declared.has('403'), operationId)
  }
})

test('every example matches its schema and has no undefined value', (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'description', components: DOCUMENT.components })
  for (const { name, operation } of OPERATIONS)
    for (const { content } of [
      ...Object.values(operation.responses),
      ...(operation.requestBody === undefined ? [] : [operation.requestBody]),
    ])
      for (const media of Object.values(content)) {
        const schema = JSON.parse(JSON.stringify(media.schema).replaceAll('"#/', '"description#/')) as object
        const values = [
          ...(media.example === undefined ? [] : [media.example]),
          ...Object.values(media.examples ?? {}).map(({ value }) => value),
        ]
        for (const value of values) {
          t.true(ajv.validate(schema, value), `${name}: ${JSON.stringify(value)} ${ajv.errorsText()}`)
          t.notRegex(JSON.stringify(value), /undefined|NaN/, name)
        }
      }
})

test('a line in the route table is enough to describe a new route', (test) => {
  const spec = {
    method: 'GET',
    path: '/things/:id',
    response: { codec: t.string },
    operationId: 'getThing',
    summary: 'A thing',
  } as const
  const handler = async () => { throw new Error('never called') }
  const document = describeInterface([
    publicRoute({ ...spec, refusals: [] }, handler),
    privateRoute(
      'admin',
      { ...spec, method: 'DELETE', operationId: 'deleteThing', refusals: ['LastProfile'] },
      handler,
    ),
  ]) as unknown as OpenApi
  const { get, delete: remove } = document.paths['/things/{id}'] ?? {}
  test.deepEqual(Object.keys(get?.responses ?? {}), ['200', '429', '500'])
  test.deepEqual(Object.keys(remove?.responses ?? {}), ['200', '400', '401', '403', '429', '500', '503'])
})

test('the typed client is up to date with the description (node tools/client/make.ts)', (t) => {
  const file = readFileSync(new URL('../../../interfaces/client/operations.ts', import.meta.url), 'utf8')
  t.is(file, generateClient(describeInterface(ROUTES)))
})

test('the description lists the servers by their public addresses', async (t) => {
  const settings = { ...HTTP_SETTINGS, basePath: '/base' }
  const http = await startHttp(t, {}, { settings })
  const { servers, ...document } = (await (await http.send('GET', '/openapi.json')).json()) as OpenApi
  t.deepEqual(servers.map(({ url }) => url), ['', '/api/v1', '/base'].map((prefix) => `${http.url}${prefix}`))
  for (const { url } of servers) t.is((await fetch(`${url}/version`)).status, 200)
  t.deepEqual(document as object, JSON.parse(JSON.stringify(DOCUMENT)) as object)

  t.deepEqual(serverAddresses({ ...settings, basePath: null }, '', ['', '/api/v1']), ['/', '/api/v1'])
  const withPublicUrl = { ...settings, publicUrl: 'https://captions.example', basePath: null }
  t.deepEqual(serverAddresses(withPublicUrl, 'wss://captions.example', ['', '/api/v1']), [
    'https://captions.example',
    'https://captions.example/api/v1',
  ])
  t.deepEqual(
    serverAddresses({ ...settings, publicUrl: 'https://captions.example/base' }, 'wss://captions.example/base', [
      '',
      '/api/v1',
      '/base',
    ]),
    ['https://captions.example/base'],
  )
})
