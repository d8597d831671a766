import { setTimeout as after } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import { issueToken } from '../../../support/service/api-tokens.ts'
import type { Client, Json } from '../../../support/service/client.ts'
import { answerCheckOf } from '../../../support/service/description-checks.ts'
import { valuesOf, type Schema } from '../../../support/service/values-of-schema.ts'
import { runTestService } from '../../../support/service/service.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

/** An operation of an OpenAPI document. */
interface Operation {
  readonly operationId: string
  readonly security: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { examples?: object }>> }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A request that the description allows, or (`isValid` false) forbids in one place. */
interface GeneratedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly isValid: boolean
}

type Members = Readonly<Record<string, unknown>>

const withoutRefs = (schema: unknown, document: Document): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => withoutRefs(one, document))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref } = schema as { readonly $ref?: string }
  if ($ref !== undefined) return withoutRefs(document.components.schemas[$ref.split('/').at(-1) ?? ''], document)
  return Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, withoutRefs(member, document)]))
}

/** Returns the media type and the schema of the body of an operation, without `$ref`. */
const bodyOf = (operation: Operation, document: Document): readonly [string, Schema] | null => {
  const [content] = Object.entries(operation.requestBody?.content ?? {})
  return content === undefined ? null : [content[0], withoutRefs(content[1].schema, document) as Schema]
}

const parametersIn = (operation: Operation, part: Parameter['in']): fc.Arbitrary<Members> => {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === part)
  const values = parameters.map(({ name, schema }) => [name, valuesOf(schema)] as const)
  return fc.record(Object.fromEntries(values), {
    requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
  })
}

/** No member of the interface accepts this value. */
const WRONG = { wrong: [true] }

/** Gives one member of a body a value that it cannot have. */
const spoiled = (body: Members, names: ReadonlyArray<string>, choice: number): Members => {
  const name = names[choice % names.length]
  return name === undefined ? body : { ...body, [name]: name === 'config' ? 'wrong' : WRONG }
}

const queryOf = (query: Members): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]))
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}

const encode = (type: string, body: Members): string =>
  type === 'application/json' ? JSON.stringify(body) : new URLSearchParams(body as Record<string, string>).toString()

/**
 * Generates requests of an operation from its description. `ids`: the ids in paths. `schema` replaces the schema of the
 * body.
 */
const requestsOf = (
  path: string,
  operation: Operation,
  document: Document,
  ids: fc.Arbitrary<number>,
  schema?: Schema,
): fc.Arbitrary<GeneratedRequest> => {
  const [type, described] = bodyOf(operation, document) ?? [null, {}]
  const bodySchema = schema ?? described
  const names = type === 'application/json' ? Object.keys(bodySchema['properties'] ?? {}) : []
  const parts = fc.record({
    path: parametersIn(operation, 'path'),
    query: parametersIn(operation, 'query'),
    header: parametersIn(operation, 'header'),
    body: (type === null ? fc.constant({}) : valuesOf(bodySchema)) as fc.Arbitrary<Members>,
    id: ids,
    flaw: names.length === 0 ? fc.constant(null) : fc.option(fc.nat()),
  })
  return parts.map(({ path: inPath, query, header, body, id, flaw }) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(name === 'id' ? id : inPath[name]))
    const sent = flaw === null ? body : spoiled(body, names, flaw)
    return {
      path: `${filled}${queryOf(query)}`,
      headers: { ...(header as Record<string, string>), ...(type !== null && { 'Content-Type': type }) },
      body: type === null ? undefined : encode(type, sent),
      isValid: flaw === null,
    }
  })
}

const BASE_PATH = '/steno'
/** No hub answers at this address, so a job that installs a model fails at once. */
const HUB_URL = 'http://127.0.0.1:9'

const services = await Promise.all([
  runTestService({ HUB_URL }),
  runTestService({ HUB_URL, COMPAT_STRICT: '1', BASE_PATH, METRICS_TOKEN: 'a-token-for-metrics' }),
])
const [usual, strict] = services
test.after.always(() => Promise.all(services.map((service) => service.dispose())))

interface Caller {
  readonly url: string
  readonly prefix: string
  readonly credentials: Readonly<Record<string, string>>
  readonly kind: 'admin' | 'user' | 'api key' | 'nobody'
  /** Ids that no request names, because they belong to the callers themselves. */
  readonly spared: ReadonlyArray<number>
}

const bearer = ({ token }: Client) => ({ Authorization: `Bearer ${token ?? ''}` })

const CALLERS: Readonly<Record<string, () => Promise<Omit<Caller, 'url' | 'prefix' | 'spared'>>>> = {
  'a plain user': async () => ({ kind: 'user', credentials: bearer(await usual.user('plain')) }),
  'an API key': async () =>
    ({ kind: 'api key', credentials: { 'X-API-Key': (await issueToken(await usual.user('keyholder'))).token } }),
  nobody: async () => ({ kind: 'nobody', credentials: {} }),
  'an administrator': async () =>
    ({ kind: 'admin', credentials: bearer(await usual.user('second admin', { permissions: ['admin'] })) }),
  'an administrator with COMPAT_STRICT and BASE_PATH': async () =>
    ({ kind: 'admin', credentials: bearer(await strict.user('strict admin', { permissions: ['admin'] })) }),
}

const documentOf = async (url: string): Promise<Document> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Document

/** A rescan takes long, and a log-out would end the log-in of the other requests. */
const SKIPPED: ReadonlySet<string> = new Set(['rescanModels', 'logout'])

/** Operations with rules that a schema cannot express: order of buffers, times in the future, subjects of jobs. */
const RULED: ReadonlySet<string> = new Set(['createLive', 'createProfile', 'changeProfile', 'createToken', 'startJob'])

const isForAdmins = ({ responses }: Operation): boolean =>
  Object.keys(responses['403']?.content?.['application/json']?.examples ?? {}).includes('PermissionMissing')

/** Returns the refusal that the description promises for the credentials, or null. */
const refusalFor = ({ kind }: Caller, operation: Operation): number | null => {
  if (operation.security.length === 0) return null
  if (kind === 'nobody') return 401
  if (kind === 'api key') return operation.security.some((scheme) => 'apiKey' in scheme) ? null : 403
  return kind === 'user' && isForAdmins(operation) ? 403 : null
}

/** Public operations ignore credentials, so only requests without credentials need variety. */
const runsOf = (caller: Caller, operation: Operation): number => {
  const isRepeated = operation.security.length === 0 && caller.kind !== 'nobody'
  return isRepeated || refusalFor(caller, operation) !== null ? 1 : 2
}

interface Received {
  readonly status: number
  readonly text: string
}

/** Sends a request. Throws when the answer is not as the description says, or when a refusal has no `detail`. */
const send = async (
  { url, prefix, credentials }: Caller, method: string, { path, headers, body }: Omit<GeneratedRequest, 'isValid'>,
): Promise<Received> => {
  // Making a request may compute for seconds. The client must see connections that the service closed meanwhile.
  await after(1)
  const response = await fetch(`${url}${prefix}${path}`, {
    method, redirect: 'manual', ...(body !== undefined && { body }),
    // On a busy machine, the service may close an idle connection at the moment of its next request.
    headers: { ...headers, ...credentials, Connection: 'close' },
  })
  const answer = { status: response.status, text: await response.text() }
  const problem = (await answerCheckOf(url))({ method, path, headers: response.headers, ...answer })
  if (problem !== null) throw new Error(problem)
  if (answer.status >= 500) throw new Error(`${answer.status}: ${answer.text}`)
  if (answer.status >= 400 && !('detail' in (JSON.parse(answer.text) as Json))) throw new Error('no detail')
  return answer
}

const expectStatus = (caller: Caller, operation: Operation, { isValid }: GeneratedRequest, answer: Received): void => {
  const { status, text } = answer
  const refusal = refusalFor(caller, operation)
  if (refusal !== null && status !== refusal) throw new Error(`${status} instead of ${refusal}: ${text}`)
  if (refusal !== null) return
  if (isValid && status === 422 && !RULED.has(operation.operationId)) throw new Error(`valid, but refused: ${text}`)
  if (!isValid && status !== 422) throw new Error(`not valid, but ${status}: ${text}`)
}

const callerOf = async (name: string): Promise<Caller> => {
  const service = name.includes('BASE_PATH') ? strict : usual
  const admin = await service.admin()
  const caller = await CALLERS[name]?.()
  const users = (await admin.api.call('listUsers')).data
  const tokens = (await admin.api.call('listAllTokens')).data
  if (caller === undefined) throw new Error(name)
  const spared = [...users, ...tokens].map(({ id }) => id)
  return { ...caller, spared, url: service.url(), prefix: service === strict ? BASE_PATH : '' }
}

/** The body of POST /lives, narrowed to what the demo model and the rules between members allow. */
const narrowed = (schema: Schema, name: string): Schema => {
  const { custom_listener_token: _, ...properties } = schema['properties'] as Readonly<Record<string, Schema>>
  const config = properties['config'] as { readonly properties: Readonly<Record<string, Schema>> }
  const settings = {
    ...config.properties,
    min_buffer: { type: 'number', minimum: 0.1, maximum: 2 },
    max_buffer: { type: 'number', minimum: 2, maximum: 30 },
    task: { enum: ['transcribe', null] },
  }
  return {
    ...schema,
    required: ['model', 'language', 'audio_url'],
    properties: {
      ...properties,
      model: { enum: ['demo-en'] },
      language: { enum: ['en'] },
      translations: { type: 'array', items: { enum: ['es', 'fr'] } },
      audio_format: { enum: ['raw', 'hls', null] },
      audio_url: { enum: ['https://93.184.215.14/live.m3u8'] },
      auto_start: { enum: [false, null] },
      listener_token: { enum: [`${name.replaceAll(/\W/g, '-')}-token`, null] },
      config: { ...config, type: 'object', properties: settings },
    },
  }
}

/** Creates sessions with every combination that the description allows for the demo model. */
const createNarrowed = async (caller: Caller, document: Document, name: string): Promise<void> => {
  const create = document.paths['/lives']?.['post']
  if (create === undefined) throw new Error('POST /lives is not described')
  const schema = narrowed(bodyOf(create, document)?.[1] ?? {}, name)
  const withoutKey = { ...create, parameters: [] }
  await fc.assert(
    fc.asyncProperty(requestsOf('/lives', withoutKey, document, fc.constant(1), schema), async (request) => {
      const { status, text } = await send(caller, 'POST', request)
      if (status !== (request.isValid ? 200 : 422)) throw new Error(`${status}: ${text}`)
      if (status !== 200) return
      const { data } = JSON.parse(text) as { readonly data: { readonly id: number } }
      await send(caller, 'PUT', { path: `/lives/${data.id}/finish`, headers: {}, body: undefined })
    }),
    { numRuns: 6, includeErrorInReport: true },
  )
}

for (const name of Object.keys(CALLERS))
  test.serial(`${name} gets only described answers, and every described session`, async (t) => {
    const caller = await callerOf(name)
    const document = await documentOf(caller.url)
    if (caller.kind !== 'nobody') await createNarrowed(caller, document, name)
    const ids = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.maxSafeInteger())
      .filter((id) => !caller.spared.includes(id))
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods))
        if (!SKIPPED.has(operation.operationId))
          await fc.assert(
            fc.asyncProperty(requestsOf(path, operation, document, ids), async (request) =>
              expectStatus(caller, operation, request, await send(caller, method.toUpperCase(), request))),
            { numRuns: runsOf(caller, operation), includeErrorInReport: true },
          )
    t.pass()
  })
